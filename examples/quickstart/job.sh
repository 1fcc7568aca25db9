#!/bin/sh
# Prints a job file of this folder with its paths filled in:
#
#   examples/quickstart/job.sh train /tmp/work | gridfold job submit -
#
# WORK is where the jobs keep checkpoints and shards; it must be absolute.
set -eu
[ $# -eq 2 ] || { echo "usage: job.sh train|elastic|serve|clean WORK" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$here/$1.yaml" ] || { echo "job.sh: there is no $here/$1.yaml" >&2; exit 2; }
case $2 in
  /*) ;;
  *) echo "job.sh: WORK must be an absolute path, not '$2'" >&2; exit 2 ;;
esac
case $here$2 in
  *[!A-Za-z0-9/._\ +,=%:-]*)
    echo "job.sh: '$here' and '$2' may hold letters, digits, blanks and /._+,=%:- only" >&2
    exit 2 ;;
esac
exec sed -e "s|@QUICKSTART@|$here|" -e "s|@WORK@|$2|" "$here/$1.yaml"
