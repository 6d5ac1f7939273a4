import { TMP_BYTES } from './limits.ts'
import { SHEET, type SandboxView } from './sandbox-view.ts'

/** Separate namespaces of every type, no nested ones, no privileges, no terminal; the sandbox ends with the process that started it. */
const ISOLATION =
  '--unshare-all --unshare-user --disable-userns --cap-drop ALL --new-session --die-with-parent'.split(' ')

/** Private file systems; the rest of `/dev` is not writable, since its size has no limit. */
const PRIVATE =
  `--proc /proc --dev /dev ${temporary('/tmp')} ${temporary('/dev/shm')} --remount-ro /dev`.split(' ')

const START = `--remount-ro / --chdir ${SHEET} --`.split(' ')

/** Returns the command that runs `command` under bubblewrap. */
export function inBubblewrap({ links, binds }: SandboxView, command: readonly string[]): string[] {
  return [
    'bwrap',
    ...ISOLATION,
    ...links.flatMap(([target, path]) => ['--symlink', target, path]),
    '--dir',
    SHEET,
    ...binds.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...PRIVATE,
    ...START,
    ...command,
  ]
}

function temporary(path: string): string {
  return `--size ${TMP_BYTES} --perms 1777 --tmpfs ${path}`
}
