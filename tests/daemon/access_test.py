#!/usr/bin/env python3
"""Who may speak to the daemon, and what a path may reach (F22, N12)."""

import http.client
import json
import os
import pathlib
import stat

import unittest

from harness import DaemonTest, exchange

JOB = {"name": "visible", "run": "echo output", "each": {"cpu": 0.1, "memory": "8Mi"}}


class AccessTest(DaemonTest):
    arguments = ("--listen", "127.0.0.1:0")

    def setUp(self):
        super().setUp()
        self.daemon.start()
        for line in self.daemon.talk().splitlines():
            if "listens http://127.0.0.1:" in line:
                self.port = int(line.split("127.0.0.1:")[1].split()[0])
        self.token = pathlib.Path(self.daemon.state, "token").read_text().strip()
        self.job = self.daemon.submit(JOB)
        self.daemon.wait(self.job)

    def call(self, method, path, token=None, headers=None, body=None):
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        return exchange(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), method, path,
                        body, headers)

    def audited(self):
        lines = pathlib.Path(self.daemon.state, "audit.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def verbs(self):
        jobs = self.daemon.jobs_path
        return [("POST", jobs, {"name": "evil", "run": "id"}), ("GET", jobs, None),
                ("GET", f"{jobs}/{self.job}", None), ("GET", f"{jobs}/{self.job}/logs", None),
                ("GET", f"{jobs}/{self.job}:wait", None), ("POST", f"{jobs}/{self.job}:cancel", None),
                ("DELETE", f"{jobs}/{self.job}", None), ("GET", "/v1/nodes", None),
                ("GET", "/v1/summary", None), ("PUT", jobs, None), ("PATCH", jobs, None),
                ("GET", "/livez", None), ("GET", "/openapi.json", None), ("GET", "/nothing", None)]

    def test_every_verb_needs_the_token(self):  # F22
        wrong = self.token[:-1] + ("0" if self.token[-1] != "0" else "1")
        for name, token in {"none": None, "wrong": wrong, "short": self.token[:8]}.items():
            before = len(self.audited())
            for method, path, body in self.verbs():
                with self.subTest(token=name, method=method, path=path):
                    answer = self.call(method, path, token, body=body)
                    self.assertEqual(answer.status, 401, answer)
                    self.assertNotIn(b"output", answer.body)
            lines = self.audited()[before:]
            self.assertEqual(len(lines), len(self.verbs()), "each refusal leaves an audit line")
            self.assertEqual({line["status"] for line in lines}, {401})
        self.assertEqual(self.call("GET", "/v1/summary", self.token).status, 200)
        self.assertEqual([job["name"] for job in self.daemon.list_jobs()], ["visible"])

    def test_web_pages_are_refused_even_with_the_token(self):  # F22
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}):
            for method, path, body in self.verbs():
                with self.subTest(headers=headers, method=method, path=path):
                    answer = self.call(method, path, self.token, headers, body)
                    self.assertIn(answer.status, (400, 401, 403, 421), answer)
                    self.assertNotIn("Access-Control-Allow-Origin", answer.headers)
        self.assertEqual([job["name"] for job in self.daemon.list_jobs()], ["visible"])

    def test_the_command_line_with_a_wrong_token(self):
        token_file = os.path.join(self.data, "token")
        pathlib.Path(token_file).write_text("0" * 64 + "\n")
        ended = self.daemon.cli("--address", f"127.0.0.1:{self.port}", "--token-file", token_file, "ps")
        self.assertEqual(ended.returncode, 4, ended)
        self.assertIn("token", ended.stderr)
        os.unlink(token_file)
        ended = self.daemon.cli("--address", f"127.0.0.1:{self.port}", "ps", "--all")
        self.assertEqual((ended.returncode, "visible" in ended.stdout), (0, True), ended)

    def test_nothing_in_the_state_is_for_others(self):
        for name in ("token", "store.db", "gridfold.sock", "audit.jsonl"):
            mode = os.stat(os.path.join(self.daemon.state, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode) & 0o077, 0, f"{name} has mode {mode:o}")
        self.assertEqual(stat.S_IMODE(os.stat(self.daemon.state).st_mode) & 0o066, 0)

    def test_logs_are_of_the_jobs_own_folder_only(self):  # N12
        jobs = self.daemon.jobs_path
        for path in (f"{jobs}/../../../../etc/passwd/logs", f"{jobs}/%2e%2e%2f%2e%2e%2fetc%2fpasswd/logs",
                     f"{jobs}/..%2f{self.job}/logs", f"{jobs}//etc/passwd/logs", f"{jobs}/*/logs",
                     f"{jobs}/%2fetc%2fpasswd/logs", f"{jobs}/{self.job}/logs?stream=../../../etc/passwd",
                     f"{jobs}/{self.job}/logs?stream=%2e%2e%2fstdout", f"{jobs}/{self.job}/logs?task=../0",
                     f"{jobs}/{self.job}/logs?attempt=%2e%2e", f"{jobs}/{self.job}%00/logs",
                     f"{jobs}/{self.job}/logs?file=/etc/passwd"):
            with self.subTest(path):
                answer = self.daemon.get(path)
                self.assertIn(answer.status // 100, (4,), answer)
                self.assertNotIn(b"root:", answer.body)
        self.assertEqual(self.daemon.get(f"{jobs}/{self.job}/logs").body, b"output\n")

    def test_a_link_among_the_logs_is_not_followed(self):  # N12
        log = pathlib.Path(self.daemon.state, "tasks", self.job, "0.1", "stdout")
        log.unlink()
        log.symlink_to("/etc/passwd")
        answer = self.daemon.get(f"{self.daemon.jobs_path}/{self.job}/logs")
        self.assertEqual(answer.status // 100, 4, answer)
        self.assertNotIn(b"root:", answer.body)
        ended = self.daemon.cli("logs", self.job)
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("root:", ended.stdout)

    def test_a_foreign_job_looks_like_none(self):  # N12
        for path in ("", "/logs", ":explain", ":wait"):
            foreign = self.daemon.get(f"/v1/tenants/other/jobs/{self.job}{path}")
            none = self.daemon.get(f"/v1/tenants/other/jobs/{self.job[:-4]}0000{path}")
            self.assertEqual((foreign.status, none.status), (404, 404))
            self.assertEqual(foreign.json()["code"], none.json()["code"])


class ListenTest(DaemonTest):
    def test_a_wider_address_is_refused(self):  # F22
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:8080", "example.org:80", ":8080", "8080"):
            with self.subTest(address):
                ended = self.daemon.cli("up", "--listen", address)
                self.assertEqual(ended.returncode, 2, ended)
                self.assertIn("listen", ended.stderr)
                self.assertIn("127.0.0.1", ended.stderr)
        self.daemon.start()  # leaves the log that every test has
        self.assertNotIn("listens http", self.daemon.talk())


if __name__ == "__main__":
    unittest.main()
