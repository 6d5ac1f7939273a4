/*
 * Stands between a process and the C library (LD_PRELOAD), at the calls that change files below one directory.
 *
 *   COLOPHON_FILES_DIR      the directory, an absolute path without links
 *   COLOPHON_FILES_TRACE    a file to which every call is appended: see trace.ts, which reads it
 *   COLOPHON_FILES_FAULTS   a file of struct faults, shared by all processes: the calls that fail, see faults.ts
 *
 * A change of data is recorded before its call, so that no sync of another thread can cover it unseen. A sync is recorded after it has
 * returned, with the length of the trace before it: it covers what was recorded up to there. A change of names is recorded after its call.
 * Files are known by their inode, so that nothing has to be remembered about descriptors, which processes inherit and copy.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATE, EXTEND, SYNC, CREATE, RENAME, UNLINK, LINK, MKDIR, RMDIR };

struct record {
  uint32_t length; /* of all, with this head */
  uint32_t kind;
  uint64_t inode;
  uint64_t at; /* the offset, the size, or for a sync the length of the trace when it began */
  uint32_t name_length;
  uint32_t other_length;
};

struct faults {
  _Atomic uint64_t calls;  /* made so far */
  _Atomic uint64_t from;   /* the number of the first call that fails; 0 for none */
  _Atomic uint64_t until;  /* that of the first one after it that does not */
  _Atomic uint64_t failed; /* calls that have failed */
  _Atomic uint32_t error;  /* the errno */
  _Atomic uint32_t half;   /* whether a write stores half of its bytes first, and fails with the next call */
  _Atomic uint32_t kinds;  /* those that have failed, one bit each */
};

static char root[PATH_MAX];
static size_t root_length;
static int trace = -1;
static struct faults *faults;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }
#define REAL(name) \
  static __typeof__(&name) real_##name; \
  if (!real_##name) real_##name = (__typeof__(&name))real(#name)

/* The same file under a high number, so that descriptors of the program have the numbers that they would have. */
static int kept(int fd) {
  if (fd < 0) return -1;
  REAL(close);
  int high = fcntl(fd, F_DUPFD_CLOEXEC, 900);
  if (high < 0) return fd;
  real_close(fd);
  return high;
}

/* Ends the process: what is not recorded would look as if it had not happened. */
static void stop(const char *path) {
  dprintf(2, "files.c: %s: %s\n", path, strerror(errno));
  abort();
}

__attribute__((constructor)) static void start(void) {
  const char *directory = getenv("COLOPHON_FILES_DIR");
  if (!directory || strlen(directory) >= sizeof root) return;
  strcpy(root, directory);
  REAL(open64);
  const char *to = getenv("COLOPHON_FILES_TRACE");
  if (to) {
    trace = kept(real_open64(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    if (trace < 0) stop(to);
  }
  const char *control = getenv("COLOPHON_FILES_FAULTS");
  if (control) {
    int fd = real_open64(control, O_RDWR | O_CLOEXEC);
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) stop(control);
    faults = shared;
    REAL(close);
    real_close(fd);
  }
  if (trace >= 0 || faults) root_length = strlen(root);
}

/* Writes the path below the root without `.` and double slashes; 0 when it is elsewhere. */
static int inside(const char *path, char *name) {
  if (strncmp(path, root, root_length) || (path[root_length] != '/' && path[root_length])) return 0;
  char *end = name;
  for (const char *part = path + root_length; *part;) {
    while (*part == '/') part++;
    size_t length = strcspn(part, "/");
    if (length && !(length == 1 && *part == '.')) {
      if (end != name) *end++ = '/';
      memcpy(end, part, length);
      end += length;
    }
    part += length;
  }
  *end = 0;
  return 1;
}

/* The same of the file of a descriptor. */
static int inside_fd(int fd, char *name) {
  char link[40], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return inside(path, name);
}

/* The same of a path from a directory. */
static int inside_at(int directory, const char *path, char *name) {
  if (!root_length || !path) return 0;
  if (path[0] == '/') return inside(path, name);
  char base[PATH_MAX], whole[2 * PATH_MAX];
  if (directory == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return 0;
  } else {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, base, sizeof base - 1);
    if (length <= 0) return 0;
    base[length] = 0;
  }
  if (snprintf(whole, sizeof whole, "%s/%s", base, path) >= PATH_MAX) return 0;
  return inside(whole, name);
}

static uint64_t trace_length(void) {
  struct stat found;
  return trace >= 0 && !fstat(trace, &found) ? (uint64_t)found.st_size : 0;
}

static void note(enum kind kind, uint64_t inode, uint64_t at, const char *name, const char *other,
                 const struct iovec *data, int pieces, size_t bytes) {
  if (trace < 0) return;
  int before = errno;
  REAL(writev);
  struct record head = {0, kind, inode, at, name ? strlen(name) : 0, other ? strlen(other) : 0};
  head.length = sizeof head + head.name_length + head.other_length + bytes;
  struct iovec all[IOV_MAX];
  int count = 0;
  all[count++] = (struct iovec){&head, sizeof head};
  if (name) all[count++] = (struct iovec){(void *)name, head.name_length};
  if (other) all[count++] = (struct iovec){(void *)other, head.other_length};
  for (int piece = 0; piece < pieces && bytes; piece++) {
    struct iovec part = data[piece];
    if (part.iov_len > bytes) part.iov_len = bytes;
    bytes -= part.iov_len;
    all[count++] = part;
  }
  if (real_writev(trace, all, count) != (ssize_t)head.length) stop("the trace");
  errno = before;
}

static uint64_t inode_at(int directory, const char *path) {
  struct stat found;
  return fstatat(directory, path, &found, AT_SYMLINK_NOFOLLOW) ? 0 : (uint64_t)found.st_ino;
}

/* Counts a call; whether it must fail now, with its errno. A full disk fails no call that needs no room. */
static int fails(enum kind kind, int needs_room) {
  if (!faults) return 0;
  uint64_t number = atomic_fetch_add(&faults->calls, 1) + 1;
  uint64_t from = atomic_load(&faults->from);
  if (!from || number < from || number >= atomic_load(&faults->until)) return 0;
  int error = (int)atomic_load(&faults->error);
  if (error != EIO && !needs_room) return 0;
  atomic_fetch_add(&faults->failed, 1);
  atomic_fetch_or(&faults->kinds, 1u << kind);
  errno = error;
  return 1;
}

/* The same for a write: the number of bytes that are stored before the fault, or -1 for none at all. */
static ssize_t cut_short(size_t bytes) {
  return faults && atomic_load(&faults->half) && bytes > 1 ? (ssize_t)(bytes / 2) : -1;
}

static size_t size_of(const struct iovec *pieces, int count) {
  size_t bytes = 0;
  for (int piece = 0; piece < count; piece++) bytes += pieces[piece].iov_len;
  return bytes;
}

static ssize_t put(int fd, const struct iovec *pieces, int count, off64_t at) {
  REAL(pwritev64);
  REAL(writev);
  return at < 0 ? real_writev(fd, pieces, count) : real_pwritev64(fd, pieces, count, at);
}

/* Every write: at an offset, or where the descriptor is for -1. */
static ssize_t store(int fd, const struct iovec *pieces, int count, off64_t at) {
  char name[PATH_MAX];
  if (!root_length || fd == trace || !inside_fd(fd, name)) return put(fd, pieces, count, at);
  size_t bytes = size_of(pieces, count);
  if (fails(WRITE, 1)) {
    ssize_t half = cut_short(bytes);
    if (half < 0) return -1;
    size_t whole = pieces[0].iov_len;
    struct iovec first = {pieces[0].iov_base, whole < (size_t)half ? whole : (size_t)half};
    return put(fd, &first, 1, at);
  }
  struct stat found;
  int flags = fcntl(fd, F_GETFL);
  if (trace >= 0 && !fstat(fd, &found) && S_ISREG(found.st_mode)) {
    off64_t offset = flags & O_APPEND ? found.st_size : at >= 0 ? at : lseek64(fd, 0, SEEK_CUR);
    note(WRITE, found.st_ino, (uint64_t)offset, NULL, NULL, pieces, count, bytes);
  }
  return put(fd, pieces, count, at);
}

ssize_t write(int fd, const void *data, size_t bytes) {
  struct iovec piece = {(void *)data, bytes};
  REAL(write);
  if (!root_length) return real_write(fd, data, bytes);
  return store(fd, &piece, 1, -1);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t at) {
  struct iovec piece = {(void *)data, bytes};
  return store(fd, &piece, 1, at);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) { return pwrite64(fd, data, bytes, at); }
ssize_t writev(int fd, const struct iovec *pieces, int count) { return store(fd, pieces, count, -1); }
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t at) { return store(fd, pieces, count, at); }
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) { return store(fd, pieces, count, at); }

static int resized(int fd, enum kind kind, off64_t size) {
  char name[PATH_MAX];
  struct stat found;
  if (!root_length || !inside_fd(fd, name)) return 0;
  if (fstat(fd, &found)) return 0;
  if (fails(kind, size > found.st_size)) return -1;
  if (trace >= 0) note(kind, found.st_ino, (uint64_t)size, NULL, NULL, NULL, 0, 0);
  return 0;
}
int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  return resized(fd, TRUNCATE, size) ? -1 : real_ftruncate64(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int truncate64(const char *path, off64_t size) {
  REAL(truncate64);
  char name[PATH_MAX];
  if (inside_at(AT_FDCWD, path, name)) {
    if (fails(TRUNCATE, 0)) return -1;
    note(TRUNCATE, inode_at(AT_FDCWD, path), (uint64_t)size, NULL, NULL, NULL, 0, 0);
  }
  return real_truncate64(path, size);
}
int truncate(const char *path, off_t size) { return truncate64(path, size); }
int fallocate64(int fd, int mode, off64_t at, off64_t length) {
  REAL(fallocate64);
  if (mode == 0 && resized(fd, EXTEND, at + length)) return -1;
  return real_fallocate64(fd, mode, at, length);
}
int fallocate(int fd, int mode, off_t at, off_t length) { return fallocate64(fd, mode, at, length); }
int posix_fallocate64(int fd, off64_t at, off64_t length) {
  REAL(posix_fallocate64);
  if (resized(fd, EXTEND, at + length)) return errno;
  return real_posix_fallocate64(fd, at, length);
}
int posix_fallocate(int fd, off_t at, off_t length) { return posix_fallocate64(fd, at, length); }

static int synced(int fd, int (*sync)(int)) {
  char name[PATH_MAX];
  if (!root_length || !inside_fd(fd, name)) return sync(fd);
  if (fails(SYNC, 1)) return -1;
  uint64_t begun = trace_length();
  int result = sync(fd);
  struct stat found;
  if (!result && trace >= 0 && !fstat(fd, &found))
    note(SYNC, found.st_ino, begun, !S_ISDIR(found.st_mode) ? NULL : *name ? name : ".", NULL, NULL, 0, 0);
  return result;
}
int fsync(int fd) {
  REAL(fsync);
  return synced(fd, real_fsync);
}
int fdatasync(int fd) {
  REAL(fdatasync);
  return synced(fd, real_fdatasync);
}

static int opened(int directory, const char *path, int flags, mode_t mode) {
  REAL(openat64);
  char name[PATH_MAX];
  if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE || !inside_at(directory, path, name))
    return real_openat64(directory, path, flags, mode);
  int is_new = inode_at(directory, path) == 0;
  if ((is_new || flags & O_TRUNC) && fails(CREATE, is_new)) return -1;
  int fd = real_openat64(directory, path, flags, mode);
  struct stat found;
  if (fd >= 0 && trace >= 0 && !fstat(fd, &found)) {
    if (is_new || flags & O_EXCL) note(CREATE, found.st_ino, 0, name, NULL, NULL, 0, 0);
    else if (flags & O_TRUNC) note(TRUNCATE, found.st_ino, 0, NULL, NULL, NULL, 0, 0);
  }
  return fd;
}
static mode_t mode_of(int flags, va_list more) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}
#define OPEN(parameters, directory, flag_bits) \
  parameters { \
    va_list more; \
    va_start(more, flags); \
    mode_t mode = mode_of(flags, more); \
    va_end(more); \
    return opened(directory, path, flag_bits, mode); \
  }
OPEN(int open(const char *path, int flags, ...), AT_FDCWD, flags)
OPEN(int open64(const char *path, int flags, ...), AT_FDCWD, flags | O_LARGEFILE)
OPEN(int openat(int at, const char *path, int flags, ...), at, flags)
OPEN(int openat64(int at, const char *path, int flags, ...), at, flags | O_LARGEFILE)
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

static int renamed(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  REAL(renameat2);
  char name[PATH_MAX], other[PATH_MAX];
  if (!inside_at(from_at, from, name) || !inside_at(to_at, to, other))
    return real_renameat2(from_at, from, to_at, to, flags);
  if (fails(RENAME, 1)) return -1;
  int result = real_renameat2(from_at, from, to_at, to, flags);
  if (!result) note(RENAME, inode_at(to_at, to), 0, name, other, NULL, 0, 0);
  return result;
}
int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return renamed(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return renamed(a, from, b, to, flags); }

static int removed(int directory, const char *path, int flags) {
  REAL(unlinkat);
  char name[PATH_MAX];
  int is_inside = inside_at(directory, path, name) && inode_at(directory, path) != 0;
  if (is_inside && fails(UNLINK, 0)) return -1;
  int result = real_unlinkat(directory, path, flags);
  if (!result && is_inside) note(flags & AT_REMOVEDIR ? RMDIR : UNLINK, 0, 0, name, NULL, NULL, 0, 0);
  return result;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char *path, int flags) { return removed(directory, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  int result = removed(AT_FDCWD, path, 0);
  return result && errno == EISDIR ? removed(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
  REAL(linkat);
  char name[PATH_MAX], other[PATH_MAX];
  if (!inside_at(from_at, from, name) || !inside_at(to_at, to, other))
    return real_linkat(from_at, from, to_at, to, flags);
  if (fails(LINK, 1)) return -1;
  int result = real_linkat(from_at, from, to_at, to, flags);
  if (!result) note(LINK, inode_at(to_at, to), 0, name, other, NULL, 0, 0);
  return result;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int directory, const char *path, mode_t mode) {
  REAL(mkdirat);
  char name[PATH_MAX];
  int is_inside = inside_at(directory, path, name) && inode_at(directory, path) == 0;
  if (is_inside && fails(MKDIR, 1)) return -1;
  int result = real_mkdirat(directory, path, mode);
  if (!result && is_inside) note(MKDIR, inode_at(directory, path), 0, name, NULL, NULL, 0, 0);
  return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
