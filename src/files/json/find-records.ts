import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { TextReader } from '../io/read-text.ts'
import { JsonOutline, type FoundArray } from './json-outline.ts'

/** The location of the records in a JSON file. */
export interface RecordsPlace {
  /** The names of the members that lead to the array; empty if the file is the array. */
  readonly path: readonly string[]
  /** The guess; null if there was none. */
  readonly guess: string | null
}

/** The member that is not a guess: responses of the service have their records there. */
const USUAL = 'records'

/**
 * Finds the array of records in a JSON file: the file itself, the member `records`, or the array of objects; `at` is
 * its requested path, as members separated by dots or as a JSON pointer. Reads the whole file if it is an object.
 * Throws ValidationError for a file without such an array.
 */
export async function findRecords(text: TextReader, at: string | null, name: string): Promise<RecordsPlace> {
  if (at !== null) return { path: pathOf(at), guess: null }
  const outline = new JsonOutline()
  let begun = false
  for await (const piece of text.pieces) {
    const start: string = begun ? '{' : piece.trimStart().charAt(0)
    // An array, or something else that the reader refuses.
    if (start !== '' && start !== '{') return { path: [], guess: null }
    begun ||= start === '{'
    outline.push(piece)
  }
  if (!begun) return { path: [], guess: null }
  const { arrays, roots } = outline
  if (arrays.some(({ path }) => path.length === 1 && path[0] === USUAL)) return { path: [USUAL], guess: null }
  const candidates = arrays.filter(({ items, objects }) => objects > 0 && objects * 2 >= items)
  const [best, ...others] = candidates.toSorted(byLikelihood)
  const [empty, another] = arrays.filter(({ items, path }) => items === 0 && path.length === 1)
  if (roots === 1 && best !== undefined) {
    const beside =
      others.length === 0 ? '' : `; there are ${[best, ...others].slice(0, 5).map(shown).join(', ')}`
    return { path: best.path, guess: `read the records of the array ${pathText(best.path)}${beside}` }
  }
  if (roots === 1 && empty !== undefined && another === undefined) return { path: empty.path, guess: null }
  throw new ValidationError(
    roots > 1
      ? `${name}: the file has several values; one with a record on each line is NDJSON, to be read with --input-format ndjson`
      : `${name}: the file must be an array of records, or an object with one, which --records-at can name`,
    'unreadable_file',
  )
}

/** Orders by fewest members above, then by most records. */
function byLikelihood(a: FoundArray, b: FoundArray): number {
  return a.path.length - b.path.length || b.objects - a.objects
}

function shown({ path, items }: FoundArray): string {
  return `${pathText(path)} (${items === 1 ? '1 item' : `${items} items`})`
}

/** Returns a path for messages, in the notation of the option. */
export function pathText(path: readonly string[]): string {
  const plain = path.every((name) => name !== '' && !/[./~]/.test(name))
  return showValue(plain ? path.join('.') : path.map((name) => `/${escaped(name)}`).join(''))
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Parses a path. Every text is a valid path. */
function pathOf(at: string): readonly string[] {
  if (at === '' || at === '.') return []
  if (!at.startsWith('/')) return at.split('.')
  return at
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}
