# SPDX-License-Identifier: Apache-2.0
"""Test-suites and command lines of other people's programs, for test_suites.py: each suite runs with
something before its commands (nothing, or `lightmeter run`) and gives {test: outcome}. What an outcome
says is not judged here, only whether it is the same. Programs come from Debian packages.
"""
import glob
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import xml.etree.ElementTree

PYTHON = "/usr/bin/python3"
INSTALLED_TESTS = "/usr/share/installed-tests"
COMMAND_S = 300  # then it hangs; that is an outcome too

# The same day, author and language each time.
STEADY = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
          "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
          "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b", "PYTHONDONTWRITEBYTECODE": "1",
          "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "SOURCE_DATE_EPOCH": "1577836800"}


def run(command, folder, seconds=COMMAND_S):
    """(status, stdout, stderr); the status is "timed out" when it had to be killed."""
    with subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                          env={**os.environ, **STEADY}) as process:
        try:
            out, errors = process.communicate(timeout=seconds)
            return process.returncode, out, errors
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, errors = process.communicate()
            return "timed out", out, errors


def sums_of(folder):
    """{name: checksum} of the files in it."""
    sums = {}
    for name in sorted(os.listdir(folder)):
        if os.path.isfile(os.path.join(folder, name)):
            with open(os.path.join(folder, name), "rb") as file:
                sums[name] = hashlib.md5(file.read()).hexdigest()
    return sums


def shown(text):
    text = text.decode(errors="replace")
    return text if len(text) < 300 else text[:200] + f"... {hashlib.md5(text.encode()).hexdigest()}"


class Commands:
    """Lines for bash, one after the other in one folder: status, output, errors, files that changed."""

    def __init__(self, name, programs, lines, prepare=None):
        self.name, self.programs, self.prepare = name, programs, prepare
        self.tests = [line.strip() for line in lines.strip().splitlines()]

    def missing(self):
        absent = [program for program in self.programs if not shutil.which(program)]
        return f"there is no {' and no '.join(absent)}" if absent else None

    def run(self, before, folder, tests):
        if self.prepare:
            self.prepare(folder)
        outcomes, before_it = {}, sums_of(folder)
        for line in self.tests:
            # All of them each time: later lines take the files of earlier ones.
            status, out, errors = run([*before, "bash", "-c", line], folder)
            files = sums_of(folder)
            changed = {name: files.get(name, "gone") for name in {**files, **before_it}
                       if files.get(name) != before_it.get(name)}
            outcomes[line] = f"{status} {shown(out)!r} {shown(errors)!r} {changed}"
            before_it = files
        return {test: outcomes[test] for test in tests}


class PythonTests:
    """Modules of CPython's own test-suite."""

    def __init__(self, name, modules, ignored=()):
        self.name, self.tests, self.ignored = name, modules, ignored

    def missing(self):
        found = subprocess.run([PYTHON, "-c", "import test.test_os"], capture_output=True, check=False)
        return "there is no test-suite of CPython (Debian: libpython3-testsuite)" \
            if found.returncode else None

    def run(self, before, folder, tests):
        outcomes = {}
        ignored = [word for pattern in self.ignored for word in ("--ignore", pattern)]
        for module in tests:
            report = os.path.join(folder, module + ".xml")
            status, _, _ = run([*before, PYTHON, "-m", "test", "--junit-xml", report, *ignored,
                                module], folder)
            outcomes[module] = cases_of(report)
            outcomes[module]["exit status"] = str(status)
        return outcomes


class Pytest:
    """The tests inside of an installed Python package."""

    def __init__(self, name, packages):
        self.name, self.tests = name, packages

    def missing(self):
        words = "import pytest, hypothesis, " + ", ".join(self.tests)
        found = subprocess.run([PYTHON, "-c", words], capture_output=True, check=False)
        return "there is no pytest, hypothesis or numpy (Debian: python3-pytest, python3-hypothesis, " \
               "python3-numpy)" if found.returncode else None

    def run(self, before, folder, tests):
        outcomes = {}
        for package in tests:
            report = os.path.join(folder, package + ".xml")
            status, _, _ = run([*before, PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                                f"--junitxml={report}", "--pyargs", package], folder, 2 * COMMAND_S)
            outcomes[package] = cases_of(report)
            outcomes[package]["exit status"] = str(status)
        return outcomes


def cases_of(path):
    """The outcome of each case in a JUnit file."""
    outcomes = {}
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return outcomes
    for case in root.iter("testcase"):
        kinds = sorted(child.tag for child in case if not child.tag.startswith("system"))
        outcomes[f"{case.get('classname') or ''}.{case.get('name')}"] = " ".join(kinds) or "ok"
    return outcomes


class InstalledTests:
    """GNOME's installed tests of one package: programs that speak TAP."""

    def __init__(self, name, package, wanted=None, left_out=()):
        self.name, self.folder = name, os.path.join(INSTALLED_TESTS, package)
        found = sorted(os.path.basename(path)[:-5]
                       for path in glob.glob(os.path.join(self.folder, "*.test")))
        self.package = package
        self.tests = [test for test in found
                      if (not wanted or test in wanted) and test not in left_out]

    def missing(self):
        return None if self.tests else f"there are no installed tests of {self.package}"

    def run(self, before, folder, tests):
        outcomes = {}
        for test in tests:
            with open(os.path.join(self.folder, test + ".test"), encoding="utf-8") as file:
                line = re.search(r"^Exec=(.*)$", file.read(), re.MULTILINE).group(1)
            status, out, _ = run([*before, *shlex.split(line)], folder)
            # Some name their cases after a number that they drew.
            said = re.sub(r"/seed:\d+", "/seed", out.decode(errors="replace"))
            points = re.findall(r"^((?:not )?ok) \d+ ?-? ?(\S*)(?:.*(# (?:SKIP|TO)\w*))?", said,
                                re.MULTILINE)
            outcomes[test] = {name: f"{word} {skip}".strip() for word, name, skip in points}
            outcomes[test]["exit status"] = str(status)
        return outcomes


def draw(folder):
    """Pictures that are always the same, as PPM and PGM: smooth, with edges and with noise."""
    noise = 1
    with open(os.path.join(folder, "in.ppm"), "wb") as file:
        file.write(b"P6 401 283 255\n")
        for y in range(283):
            for x in range(401):
                noise = noise * 1103515245 + 12345 & 0x7fffffff
                file.write(bytes((x * 255 // 401, (x // 16 + y // 16) % 2 * 255, noise >> 23)))
    with open(os.path.join(folder, "in.pgm"), "wb") as file:
        file.write(b"P5 64 64 255\n" + bytes((x * y) & 255 for y in range(64) for x in range(64)))
    with open(os.path.join(folder, "broken.jpg"), "wb") as file:
        file.write(b"\xff\xd8\xff\xe0" + bytes(range(200)))


LIBJPEG = """
cjpeg -outfile a.jpg in.ppm && djpeg -outfile a.ppm a.jpg
cjpeg -quality 30 -progressive -outfile p.jpg in.ppm && djpeg -dct fast -nosmooth -outfile p.ppm p.jpg
cjpeg -arithmetic -outfile r.jpg in.ppm && djpeg -outfile r.ppm r.jpg
cjpeg -sample 1x1 -optimize -dct float -outfile s.jpg in.ppm && djpeg -dct float -rgb565 -bmp -outfile s.bmp s.jpg
cjpeg -grayscale -restart 2 -outfile g.jpg in.ppm && djpeg -pnm -outfile g.pgm g.jpg
cjpeg -outfile h.jpg in.pgm && djpeg -scale 3/8 -outfile h.pgm h.jpg
djpeg -crop 120x90+40+40 -outfile c.ppm a.jpg
djpeg -skip 16,31 -outfile k.ppm p.jpg
djpeg -colors 64 -gif -outfile q.gif a.jpg
djpeg -targa -outfile t.tga p.jpg
jpegtran -rotate 90 -trim -outfile 90.jpg a.jpg
jpegtran -flip horizontal -progressive -outfile f.jpg a.jpg
jpegtran -crop 96x64+16+16 -optimize -outfile cr.jpg p.jpg
jpegtran -arithmetic -transpose -outfile tr.jpg p.jpg
jpegtran -grayscale -copy all -outfile gr.jpg a.jpg
rdjpgcom -verbose a.jpg; wrjpgcom -comment 'a word' a.jpg >w.jpg; rdjpgcom w.jpg
djpeg broken.jpg
head -c 9000 a.jpg >short.jpg; djpeg -outfile short.ppm short.jpg
cat a.jpg | djpeg | cjpeg -quality 5 | djpeg -fast -pnm >pipe.ppm
djpeg nothing.jpg
cjpeg -outfile /dev/full in.ppm
"""

SQLITE = """
sqlite3 base "create table t (a integer primary key, b text, c blob); create index i on t (b);"
sqlite3 base "with recursive n(x) as (select 1 union all select x+1 from n where x<20000) insert into t select x, 'row '||(x*7919%20000), zeroblob(x%50) from n;"
sqlite3 base "pragma integrity_check; select count(*), sum(length(c)), min(b), max(b) from t;"
sqlite3 base "pragma journal_mode=wal; begin; update t set b=b||'!' where a%3=0; commit; pragma wal_checkpoint; pragma journal_mode=delete;"
sqlite3 base "select x.b, count(*) from t x join t y on x.a=y.a+1 group by substr(x.b,1,5) order by 2 desc, 1 limit 5;"
sqlite3 base .dump | md5sum
sqlite3 base "begin; delete from t; rollback; vacuum; pragma mmap_size=10000000; select count(*) from t;"
sqlite3 base "insert into t values (1, 'twice', null);"
sqlite3 -readonly base "delete from t;"
(for i in 1 2 3 4; do sqlite3 -cmd '.timeout 60000' base "update t set c=x'0$i' where a=$i;" & done; wait); sqlite3 base "select a, hex(c) from t where a<6"
"""

GIT = """
git init -q r && cd r && seq 1 5000 >a && cp a b && git add . && git commit -qm one && git rev-parse HEAD
cd r && sed -i 's/7/seven/' a && git commit -qam two && git log --stat --format=%H && git diff HEAD~1 | md5sum
cd r && git checkout -qb side HEAD~1 && sed -i 1d b && git commit -qam three && git merge -q -m m master && git log --graph --format=%h
cd r && git repack -qadf --threads=2 && git gc -q && git fsck --full && git count-objects -v | grep -v size
git clone -q r copy && cd copy && git log --format=%T -1 && git blame a | md5sum
cd r && git grep -c seven; git archive HEAD | tar tf - | sort
cd r && git rebase -q HEAD~1 nothing
git -C nowhere status
"""

TOOLS = """
seq 1 40000 | sort -R --random-source=/bin/ls | sort -n --parallel=2 -S 1M | md5sum
seq 1 20000 | xargs -n 500 -P 4 echo | tr ' ' '\\n' | sort -n | md5sum
seq 1 60000 >a; gzip -9nc a | gzip -dc | cmp - a && xz -T2 -kf a && xz -dc a.xz | cmp - a && ls -s a.xz
tar --sort=name --mtime=@0 --owner=0 --group=0 -cf t.tar a && tar tvf t.tar && tar xf t.tar -O | md5sum
dd if=/dev/zero of=z bs=4k count=100 conv=fsync status=none && dd if=z bs=1 count=3000 status=none | wc -c
trap 'echo got TERM' TERM; kill -TERM $$; (exit 3); echo $?; (kill -SEGV $BASHPID) 2>&1 | cat; ulimit -n
coproc cat; echo through >&${COPROC[1]}; read -r line <&${COPROC[0]}; echo "$line"; exec {COPROC[1]}>&-; wait
cat <(echo one) <(echo two) >both; mkfifo f; (echo in a pipe >f &) ; cat f; rm f
timeout 0.2 sleep 5; echo $?; (timeout -s KILL 0.2 sleep 5; exit $?) 2>/dev/null; echo $?
flock lock -c 'echo locked' && (flock -n 9 && flock -n lock true; echo $?) 9>lock
find . -type f -size +1k -exec md5sum {} + | sort
cat /dev/zero | head -c 100000 | wc -c; yes | head -n 3; echo x >/dev/full
env -i /bin/echo nothing; env -u LD_PRELOAD sh -c 'echo ${LD_PRELOAD-none}'
echo 'int main(void){return 3;}' >c.c && gcc -O2 -o c.out c.c && ./c.out; echo $?; rm -f c.out
"""

PERL = """
perl -e '$| = 1; for (1..3) { if (!(my $p = fork)) { exit $_ } else { waitpid $p, 0; print $? >> 8, "\\n" } }'
perl -e '$SIG{ALRM} = sub { die "alarm\\n" }; alarm 1; eval { sleep 5 }; print $@; print `echo child`; exit 3'
perl -e 'open my $f, ">", "o" or die; print $f "x" x 1e6; close $f; print -s "o", "\\n"; open $f, "<", "nothing" or die "$!\\n"'
perl -MSocket -e 'socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0; syswrite $a, "over"; sysread $b, my $t, 9; print "$t\\n"'
perl -MDigest::MD5=md5_hex -MStorable -e '$Storable::canonical = 1; store {map {$_ => $_ ** 2} 1..999}, "s"; print md5_hex(join ",", map {retrieve("s")->{$_}} 1..999), "\\n"'
perl -Mthreads -e 'print join(",", map {$_->join} map {my $n = $_; threads->create(sub {my $s = 0; $s += $_ for 1..$n * 1000; $s})} 1..6), "\\n"'
perl -e 'kill 9, $$'
"""

# A server of the line's own on a free port, which it says on its first line.
SERVER = ("exec 3< <(/usr/bin/python3 -u -c \"import http.server as h; s = h.ThreadingHTTPServer("
          "('127.0.0.1', 0), h.SimpleHTTPRequestHandler); print(s.server_port); s.serve_forever()\" "
          "2>/dev/null); server=$!; read -r port <&3; u=http://127.0.0.1:$port; ")
CURL = f"""
seq 1 300000 >big; curl -sS file://$PWD/big | md5sum
{SERVER} curl -sS $u/big | md5sum; curl -sS -r 100-199 -o part $u/big -w '%{{http_code}} %{{size_download}}\\n'; kill $server
{SERVER} curl -sS --no-progress-meter -Z -o a $u/big -o b $u/big -o c $u/big; kill $server; md5sum a b c
{SERVER} curl -sSf -o none $u/nothing; echo $?; kill $server
curl -sS http://127.0.0.1:1/ 2>/dev/null; echo $?
curl -sS -o /dev/full file://$PWD/big; echo $?
"""

PICTURES = """
ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=10:duration=2 -pix_fmt yuv420p -threads 1 -c:v libx264 -x264-params threads=1 -bitexact v.mp4
ffmpeg -v error -threads 2 -i v.mp4 -vf scale=160:90 -f framemd5 -bitexact -
ffmpeg -v error -i v.mp4 -bitexact -frames:v 3 f%d.png; ffmpeg -v error -i nothing.mp4 -f null -
vips thumbnail in.ppm t.png 100 && vips avg t.png && vips gaussblur in.ppm b.jpg 2 && vips header nothing.png
convert-im6.q16 in.ppm -resize 50% -strip -define png:exclude-chunks=date,time c.png && identify-im6.q16 c.png && convert-im6.q16 nothing.png x.png
tesseract in.pgm out --psm 7 -l eng >said 2>&1; cat out.txt
"""

SHORT = [
    Commands("libjpeg-turbo's tools", ["cjpeg", "djpeg", "jpegtran", "rdjpgcom"], LIBJPEG, draw),
    Commands("SQLite's command line", ["sqlite3"], SQLITE),
    Commands("git", ["git"], GIT),
    Commands("bash and its tools", ["bash", "xz", "flock", "gcc"], TOOLS),
    Commands("perl", ["perl"], PERL),
    Commands("curl", ["curl"], CURL),
    Commands("ffmpeg, vips, ImageMagick, tesseract",
             ["ffmpeg", "vips", "convert-im6.q16", "tesseract"], PICTURES, draw),
    PythonTests("CPython", ["test_mmap", "test_select", "test_thread"]),
    InstalledTests("GDK Pixbuf", "gdk-pixbuf",
                   {"pixbuf-jpeg", "pixbuf-threads", "pixbuf-fail", "pixbuf-gif", "pixbuf-save"}),
    InstalledTests("GLib", "glib", {"asyncqueue", "cond", "once", "pollable", "private",
                                    "spawn-multithreaded", "spawn-singlethread", "thread-pool"}),
]

LONG = SHORT[:7] + [
    PythonTests("CPython", [
        "test_asyncio", "test_concurrent_futures", "test_ctypes", "test_faulthandler", "test_fcntl",
        "test_file", "test_fileio", "test_fork1", "test_io", "test_largefile", "test_mmap",
        "test_multiprocessing_fork", "test_multiprocessing_spawn", "test_openpty", "test_os",
        "test_pathlib", "test_poll", "test_posix", "test_pty", "test_queue", "test_select",
        "test_selectors", "test_shutil", "test_signal", "test_socket", "test_socketserver",
        "test_sqlite3", "test_subprocess", "test_tempfile", "test_thread", "test_threading",
        "test_threadsignals", "test_time", "test_wait3", "test_wait4", "test_zipfile"],
        ignored=("*VSOCK*",)),  # waits for ever in machines whose kernel has it and whose host has not
    Pytest("NumPy", ["numpy.fft", "numpy.linalg"]),
    InstalledTests("GDK Pixbuf", "gdk-pixbuf"),
    InstalledTests("GLib", "glib"),
]
