#include "simulator/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <memory>

namespace gridfold {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kChunk = std::size_t{1} << 18;

Error damaged(const std::string& path) {
  Error error = corrupt(path + ": the gzip file is damaged or cut off");
  error.hint = "fetch it again, or check it with gzip -t";
  return error;
}

Result<std::string> unpack(gzFile file, const std::string& path) {
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kChunk);
    const int got = gzread(file, text.data() + before, kChunk);
    if (got < 0) {
      int code = Z_OK;
      gzerror(file, &code);
      return code == Z_ERRNO ? from_errno(errno, "read " + path) : damaged(path);
    }
    text.resize(before + static_cast<std::size_t>(got));
    if (text.size() > kMaxBytes) {
      return Error{
          ErrorKind::kLimit, path + ": more than 1 GiB of text", {}, "cut the trace into parts"};
    }
    if (got == 0) break;
  }
  int code = Z_OK;
  gzerror(file, &code);
  if (code != Z_OK && code != Z_STREAM_END) return damaged(path);
  return text;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return from_errno(errno, "open " + path);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    return from_errno(EISDIR, "read " + path);
  }
  gzFile opened = gzdopen(descriptor, "rb");
  if (opened == nullptr) {
    ::close(descriptor);
    return from_errno(ENOMEM, "open " + path);
  }
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(opened, gzclose);
  return unpack(file.get(), path);
}

}  // namespace gridfold
