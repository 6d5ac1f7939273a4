import type { Random } from '../../src/store/suite/support/random.ts'
import { HOSTILE_FILTERS, HOSTILE_STATEMENTS } from './hostile-sql.ts'

/** Longest text of the corpus that is used in mixtures. */
const SHORT = 300

const FRAGMENTS = [...HOSTILE_STATEMENTS, ...HOSTILE_FILTERS].filter((text) => text.length <= SHORT)

/** Pieces of attacks. */
const PIECES = [
  '"$cache"', '"$provenance"', 'main."$run"', '[$failure]', '`$cell`', "'$sheet'", '"$data"', 'main."$data"', '"$seq"', '"$version"',
  'rowid', 'sqlite_master', 'sqlite_schema', 'pragma_table_list', 'dbstat', 'jsonb_each', 'temp.records', 'main.records', 'records',
  '(SELECT entry FROM "$cache")', '(SELECT count(*) FROM "$provenance")', '(SELECT line FROM "$provenance" LIMIT 1)',
  '(SELECT group_concat(actor) FROM "$run")', '(SELECT text FROM "$derivation")', '(SELECT sql FROM sqlite_master LIMIT 1)',
  'UNION SELECT entry FROM "$cache"', 'UNION ALL SELECT line FROM "$provenance"', ', "$run"', 'JOIN "$cache"', 'NATURAL JOIN "$run"',
  'FROM "$provenance"', 'FROM "$run" AS records', 'AS records', 'WITH records AS (SELECT line AS id FROM "$provenance")',
  'WITH records AS (SELECT "$version" AS id, "$seq" AS n FROM "$data")', ') GROUP BY (id', ') ORDER BY (n', ') UNION ALL SELECT 1, 2 WHERE (1',
  'load_extension(id)', 'readfile(id)', 'sqlite_version()', 'PRAGMA query_only = OFF', 'ATTACH', 'DELETE FROM records', 'INTO',
  'RETURNING *', 'ON CONFLICT DO NOTHING', 'VALUES (1)', 'EXPLAIN', 'OVER (ORDER BY (SELECT entry FROM "$cache"))', 'INDEXED BY "$unique_title"',
  ';', '; DELETE FROM records', ';;', '--', '--\n', '/*', '*/', '/**/', "'", '"', '`', '[', ']', '(', ')', '((', '))', ') OR (1=1',
  ') UNION SELECT line FROM "$provenance" WHERE (1', 'THEN 1 END, CASE WHEN', 'END', 'CASE WHEN 1 THEN', ',', '.', '*', '?', '?1', ':a', '$a',
  '\0', '\uFEFF', '\u00A0', '\ud800', '\u200B', '；', '\\', '\r', '\v', '0x', '1e', "x'", "x'0", '||', 'COLLATE NOCASE', 'ESCAPE',
  'NOT', 'NULL', 'LIMIT -1', 'OFFSET 1', 'ORDER BY 1', 'GROUP BY 1', 'HAVING 1', '= 1', '0 AND', '1 OR',
] // prettier-ignore

/** Characters with a meaning in SQL. */
const MARKS = '\'"`[]()-/*;,.?:@#$%\\\0 \n'.split('')

const TOKEN = /\s+|'(?:[^']|'')*'|"[^"]*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|[^]/gu

/** Spoils a well-formed text in one to four places; `donor` returns others of its kind. */
export function spoiled(random: Random, text: string, donor: () => string): string {
  let result = text
  for (let count = 1 + random.below(4); count > 0; count -= 1) result = spoiledOnce(random, result, donor)
  return result
}

function spoiledOnce(random: Random, text: string, donor: () => string): string {
  const tokens = text.match(TOKEN) ?? []
  const at = random.below(tokens.length + 1)
  const end = Math.min(tokens.length, at + 1 + random.below(3))
  const put = (...inserted: readonly string[]): string => tokens.toSpliced(at, 0, ...inserted).join('')
  switch (random.below(11)) {
    case 0:
      return tokens.toSpliced(at, end - at).join('')
    case 1:
      return put(...tokens.slice(at, end))
    case 2:
      return tokens.toSpliced(at, 1, random.pick(PIECES)).join('')
    case 3:
      return put(' ', random.pick(FRAGMENTS), ' ')
    case 4:
      return `${text}${random.pick([';', ' UNION ALL ', ' ', ') OR (', '\n--\n', ' AND '])}${donor()}`
    case 5: {
      const others = donor().match(TOKEN) ?? []
      const from = random.below(others.length + 1)
      return put(...others.slice(from, from + 1 + random.below(8)))
    }
    case 6:
      return put(randomText(random))
    case 7:
      return tokens.slice(0, at).join('')
    case 8:
      return `${random.pick(PIECES)} ${text}`
    default:
      return put(' ', random.pick(PIECES), ' ')
  }
}

/** Returns a few characters of all of Unicode, more often those with a meaning in SQL. */
function randomText(random: Random): string {
  const one = (): string => {
    if (random.chance(0.5)) return random.pick(MARKS)
    return String.fromCharCode(random.chance(0.5) ? random.below(256) : random.below(65_536))
  }
  return Array.from({ length: 1 + random.below(6) }, one).join('')
}

/** Returns a text of the corpus, or several joined together. */
export function fragments(random: Random): string {
  const glue = random.pick([' ', ';', ' AND ', ' UNION ', '\n', ') OR ('])
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(FRAGMENTS)).join(glue)
}
