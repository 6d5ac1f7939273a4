import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DerivationKind } from '../../derivation/definition/derivation-kind.ts'
import { createKinds, type KindOptions, type Kinds } from '../../derivation/kinds.ts'
import { OperationError } from '../../errors/service-error.ts'
import type { Dialect } from '../../store/sheet-store.ts'
import { formulaDialect } from './formula-dialect.ts'
import { NO_SCRIPTS } from '../scripts/script-processes.ts'
import { readTable } from './read-table.ts'

/** The environment variable with the path of a module whose `kinds` every process registers beside the built-in ones. */
export const KINDS_VARIABLE = 'COLOPHON_KINDS'

/** The options of {@link loadKinds}. */
export interface LoadOptions extends Omit<KindOptions, 'readTable' | 'formulas'> {
  /** The dialect of the sheet's store. */
  readonly dialect: Dialect
}

const METHODS = ['parse', 'prepare', 'plan', 'estimate', 'run'] as const

/**
 * Returns the kinds that derivation files can name: the built-in ones, those of the module that {@link KINDS_VARIABLE} names, and
 * `own`. Every operation that reads derivation files gets its kinds from here. A sheet cannot name a module, since it may come
 * from an untrusted source. Throws OperationError for a module that cannot be loaded, and as {@link createKinds} does.
 */
export async function loadKinds({ dialect, own = [], ...options }: LoadOptions): Promise<Kinds> {
  const path = process.env[KINDS_VARIABLE] ?? ''
  const loaded = path === '' ? [] : await kindsOfModule(path)
  return createKinds({
    readTable,
    scripts: NO_SCRIPTS,
    formulas: await formulaDialect(dialect),
    ...options,
    own: [...loaded, ...own],
  })
}

async function kindsOfModule(path: string): Promise<readonly DerivationKind[]> {
  let loaded: { readonly kinds?: unknown }
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as typeof loaded
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperationError(`${KINDS_VARIABLE} names ${path}, which cannot be loaded: ${reason}`)
  }
  const { kinds } = loaded
  if (Array.isArray(kinds) && kinds.every(isKind)) return kinds
  throw new OperationError(
    `${KINDS_VARIABLE} names ${path}, which does not export kinds; export an array \`kinds\` of objects with name, ${METHODS.join(', ')}`,
  )
}

function isKind(value: unknown): value is DerivationKind {
  if (typeof value !== 'object' || value === null) return false
  const kind = value as Readonly<Record<string, unknown>>
  return typeof kind['name'] === 'string' && METHODS.every((method) => typeof kind[method] === 'function')
}
