/** Limits of each process of a script; where a process has children, each has them. */
export const MEMORY_BYTES = 2 * 1024 ** 3
const FILE_BYTES = 64 * 1024 ** 2
const OPEN_FILES = 256

/** Processes and threads of a confined script together. */
const PROCESSES = 64

/** The size of a confined script's `/tmp`, as mount options. */
export const TMP_BYTES = 64 * 1024 ** 2
export const TMP_FILES = 10_000

/** The programs of {@link limitsCommand}, of util-linux and coreutils. */
export const LIMIT_PROGRAMS = ['nice', 'choom', 'prlimit'] as const

/** The server has the processor first, and when memory is short, the kernel ends a script before anything else. */
const SERVER_FIRST = 'nice -n 10 choom -n 1000 --'.split(' ')

/** Returns the command that applies the limits to the command after it. */
export function limitsCommand(
  cpuSeconds: number | null,
  { ownUsers }: { readonly ownUsers: boolean },
): string[] {
  return [
    ...SERVER_FIRST,
    'prlimit',
    `--as=${MEMORY_BYTES}`,
    `--fsize=${FILE_BYTES}`,
    `--nofile=${OPEN_FILES}`,
    '--core=0',
    // Without a user namespace all processes of the user would count.
    ...(ownUsers ? [`--nproc=${PROCESSES}`] : []),
    ...(cpuSeconds === null ? [] : [`--cpu=${cpuSeconds}`]),
    '--',
  ]
}
