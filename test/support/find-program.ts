import {
  CHROMIUM,
  findProgram,
  FISH,
  GIT,
  NGINX,
  PGBOUNCER,
  SCRIPT,
  ZSH,
  type TestProgram,
} from '../../scripts/test-programs.mjs'

/** A program of another project that a test drives. */
export interface FoundProgram {
  /** Empty if it is not installed. */
  readonly path: string
  /** The reason why it cannot run here, or false, for a test's option `skip`. */
  readonly skip: string | false
}

/**
 * Returns the Chromium of this machine. Throws in continuous integration (`CI=true`) if it is missing: a skipped test proves nothing there.
 */
export function findChromium(): FoundProgram {
  return find(CHROMIUM)
}

/** Returns the nginx of this machine; throws like {@link findChromium}. */
export function findNginx(): FoundProgram {
  return find(NGINX)
}

/** Returns the PgBouncer of this machine; throws like {@link findChromium}. */
export function findPgbouncer(): FoundProgram {
  return find(PGBOUNCER)
}

/** Returns the `script` of this machine, which runs a command in a terminal; throws like {@link findChromium}. */
export function findScript(): FoundProgram {
  return find(SCRIPT)
}

/** Returns a shell of this machine; throws like {@link findChromium}. */
export function findShell(shell: 'zsh' | 'fish'): FoundProgram {
  return find(shell === 'zsh' ? ZSH : FISH)
}

/** Returns the git of this machine; throws like {@link findChromium}. */
export function findGit(): FoundProgram {
  return find(GIT)
}

function find(program: TestProgram): FoundProgram {
  const path = findProgram(program)
  if (path !== null) return { path, skip: false }
  const skip = `no ${program.name} on this machine; install one, or set ${program.variable}`
  if (process.env['CI'] === 'true') throw new Error(skip)
  return { path: '', skip }
}
