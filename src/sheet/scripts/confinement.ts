import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { err, ok, type Result } from '../../errors/result.ts'
import { inBubblewrap } from './bubblewrap.ts'
import { SYSTEM_PATH } from './interpreters.ts'
import { limitsCommand } from './limits.ts'
import { inNamespaces } from './namespaces.ts'
import { SCRIPTS, sheetView, systemView, type SandboxView } from './sandbox-view.ts'

/** A way in which scripts are confined. */
export type Confinement = 'bubblewrap' | 'namespaces'

/** Returns the command that runs `command` confined. `root` is an empty directory. */
export function confined(
  confinement: Confinement,
  view: SandboxView,
  command: readonly string[],
  root: string,
): string[] {
  return confinement === 'bubblewrap' ? inBubblewrap(view, command) : inNamespaces(view, command, root)
}

/** The script of the trial, which passes exactly in a sandbox: the machine's users are unknown, and the sheet cannot be written. */
const TRIAL = 'test ! -e /etc/passwd && ! touch /sheet/a 2>/dev/null && touch /tmp/a && test "$(id -u)" != ""'

const TRIAL_MS = 10_000

/** The oldest kernel that counts processes for each user namespace. */
const OLDEST_KERNEL = { major: 5, minor: 14 }

/** Finds out by a trial how this machine can confine scripts, once; the reason as text if it cannot. */
export function findConfinement(): Promise<Result<Confinement, string>> {
  return (finding ??= find())
}

let finding: Promise<Result<Confinement, string>> | null = null

async function find(): Promise<Result<Confinement, string>> {
  if (process.platform !== 'linux')
    return err(`scripts can be confined on Linux only, and this is ${process.platform}`)
  const [major = 0, minor = 0] = release().split('.').map(Number)
  const { major: least, minor: leastMinor } = OLDEST_KERNEL
  if (major < least || (major === least && minor < leastMinor)) {
    return err(`scripts can be confined on Linux ${least}.${leastMinor} or newer, and this is ${release()}`)
  }
  // bubblewrap adds no user for a server of root.
  const tried: Confinement[] = process.getuid?.() === 0 ? ['namespaces'] : ['bubblewrap', 'namespaces']
  const reasons: string[] = []
  for (const confinement of tried) {
    const reason = await problemOf(confinement)
    if (reason === null) return ok(confinement)
    reasons.push(`${confinement}: ${reason}`)
  }
  return err(
    `this machine does not confine scripts (${reasons.join('; ')}); install bubblewrap or util-linux, or allow user namespaces`,
  )
}

/** Tries a confinement; null if it works, otherwise the reason why it does not. */
export async function problemOf(confinement: Confinement): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'colophon-trial-'))
  try {
    const root = join(folder, 'root')
    const script = join(folder, 'trial.sh')
    await mkdir(root)
    await writeFile(script, TRIAL)
    await chmod(script, 0o644)
    const system = systemView(script, 'trial.sh')
    const command = [...limitsCommand(10, { ownUsers: true }), 'sh', `${SCRIPTS}/trial.sh`]
    const [program = '', ...args] = confined(
      confinement,
      { ...system, binds: [...system.binds, ...sheetView(null)] },
      command,
      root,
    )
    return await new Promise((resolve) => {
      execFile(
        program,
        args,
        { env: { PATH: SYSTEM_PATH }, timeout: TRIAL_MS, killSignal: 'SIGKILL', encoding: 'utf8' },
        (error, _stdout, stderr) => {
          const [line = ''] = stderr.trim().split('\n').slice(-1)
          resolve(error === null ? null : line || error.message.split('\n')[0] || 'failed')
        },
      )
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
