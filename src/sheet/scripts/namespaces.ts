import { TMP_BYTES, TMP_FILES } from './limits.ts'
import { SHEET, type SandboxView } from './sandbox-view.ts'

/**
 * Ends unless the process that started this one still lives. `setpriv --pdeathsig` kills this process when that one dies, but not if that
 * happened before.
 */
const CHECK_PARENT = `
[ "$PPID" = "$1" ] || exit 125
shift
exec "$@"
`

/**
 * Process 1 of new namespaces of mounts, processes, network, IPC and host name. It builds the file system of the sandbox and runs the
 * command; when it ends, the kernel kills all that is left. Arguments: an empty directory, options of /tmp, what to show, `--`, the
 * command.
 */
const BUILD_AND_RUN = `
set -eu
# The user of the script must be able to read what is made here.
umask 022
root=$1 tmp=$2
shift 2
mount -t tmpfs -o mode=0755,size=1m,nosuid,nodev sandbox "$root"
mkdir "$root/tmp" "$root/proc" "$root/dev" "$root${SHEET}"
place() { if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "\${2%/*}"; : >"$2"; fi; }
# A mount that the machine made noexec must stay so.
show() { place "$1" "$2"; mount -o bind,ro,nosuid,nodev "$1" "$2" 2>/dev/null || mount -o bind,ro,nosuid,nodev,noexec "$1" "$2"; }
while [ "$1" != -- ]; do
  case $1 in
    show) show "$2" "$root$3" ;;
    link) ln -s "$2" "$root$3" ;;
  esac
  shift 3
done
shift
for device in null zero full random urandom; do
  : >"$root/dev/$device"
  mount -o bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /tmp "$root/dev/shm"
mount -t tmpfs -o "mode=1777,nosuid,nodev,$tmp" sandbox "$root/tmp"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -o remount,bind,ro,nosuid,nodev "$root"
cd "$root"
pivot_root . .
umount -l .
cd ${SHEET}
set +e
"$@"
exit "$?"
`

/** In a user namespace of the script: allows no other one, which would have privileges of its own, drops all privileges, and runs. */
const DROP_PRIVILEGES = `
set -eu
unset OLDPWD
echo 0 >/proc/sys/user/max_user_namespaces
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
`

const IN_USER_NAMESPACE = 'unshare --user --map-root-user --'.split(' ')

const IN_OTHER_NAMESPACES = 'unshare --mount --pid --net --ipc --uts --fork --kill-child --'.split(' ')

const DIES_WITH_PARENT = 'setpriv --pdeathsig KILL --'.split(' ')

const AS_NOBODY = 'setpriv --reuid=65534 --regid=65534 --clear-groups --'.split(' ')

/** Returns the command that runs `command` in namespaces of its own, with tools of util-linux. `root` is an empty directory. */
export function inNamespaces(
  { links, binds }: SandboxView,
  command: readonly string[],
  root: string,
): string[] {
  // The script of a server of root must not be root, whose processes the kernel does not count.
  const isRoot = process.getuid?.() === 0
  return [
    // First, since entering a user namespace makes the kernel forget the signal of setpriv.
    ...(isRoot ? [] : IN_USER_NAMESPACE),
    ...DIES_WITH_PARENT,
    ...shell(CHECK_PARENT, String(process.pid)),
    ...IN_OTHER_NAMESPACES,
    ...shell(BUILD_AND_RUN, root, `size=${TMP_BYTES},nr_inodes=${TMP_FILES}`),
    ...links.flatMap(([target, path]) => ['link', target, path]),
    ...binds.flatMap(([from, to]) => ['show', from, to]),
    '--',
    ...(isRoot ? [...AS_NOBODY, ...IN_USER_NAMESPACE] : []),
    ...shell(DROP_PRIVILEGES, ...command),
  ]
}

function shell(text: string, ...args: readonly string[]): readonly string[] {
  return ['sh', '-c', text, 'colophon', ...args]
}
