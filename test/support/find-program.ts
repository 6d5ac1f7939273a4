import {
  CHROMIUM,
  findProgram,
  FISH,
  NGINX,
  PGBOUNCER,
  SCRIPT,
  ZSH,
  type TestProgram,
} from '../../scripts/test-programs.mjs'

/** A program of another make that a test drives. */
export interface FoundProgram {
  /** Empty when there is none. */
  readonly path: string
  /** For a test's option `skip`: why it cannot run here, or false. */
  readonly skip: string | false
}

/** The Chromium of this machine. Throws in continuous integration (`CI=true`) when there is none: a test skipped there proves nothing. */
export function findChromium(): FoundProgram {
  return find(CHROMIUM)
}

/** The nginx of this machine; throws like {@link findChromium}. */
export function findNginx(): FoundProgram {
  return find(NGINX)
}

/** The PgBouncer of this machine; throws like {@link findChromium}. */
export function findPgbouncer(): FoundProgram {
  return find(PGBOUNCER)
}

/** The `script` of this machine, which gives a command a terminal; throws like {@link findChromium}. */
export function findScript(): FoundProgram {
  return find(SCRIPT)
}

/** A shell of this machine; throws like {@link findChromium}. */
export function findShell(shell: 'zsh' | 'fish'): FoundProgram {
  return find(shell === 'zsh' ? ZSH : FISH)
}

function find(program: TestProgram): FoundProgram {
  const path = findProgram(program)
  if (path !== null) return { path, skip: false }
  const skip = `no ${program.name} on this machine; install one, or set ${program.variable}`
  if (process.env['CI'] === 'true') throw new Error(skip)
  return { path: '', skip }
}
