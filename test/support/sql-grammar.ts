import type { Random } from '../../src/store/suite/support/random.ts'

/** Makes mostly well-formed SQL over the records of `openCanarySheet`, for a fuzzer to spoil. */

const FIELDS = ['id', 'n', 'price', 'done', 'title', 'day', 'tags', 'details', 'verdict']

const LITERALS = [
  'NULL', 'TRUE', 'FALSE', '0', '1', '-1', '2.5', '1e300', '9223372036854775807', '0x1F', "''", "'t1'", "'x''y'", "'%'",
  "'2024-01-03'", "'[1,2]'", "'{\"k\":1}'", "x'00ff'", "'$.k'",
] // prettier-ignore

const OPERATORS = [
  '=', '<>', '<', '>=', 'IS', 'IS NOT', 'IS NOT DISTINCT FROM', 'LIKE', 'GLOB', 'AND', 'OR', '+', '-', '*', '/', '%', '||', '&',
  '|', '<<', '->', '->>',
] // prettier-ignore

const FUNCTIONS: readonly (readonly [name: string, arguments_: number])[] = [
  ['abs', 1], ['coalesce', 2], ['ifnull', 2], ['iif', 3], ['instr', 2], ['length', 1], ['lower', 1], ['max', 2], ['min', 2],
  ['nullif', 2], ['quote', 1], ['replace', 3], ['round', 1], ['substr', 2], ['trim', 1], ['typeof', 1], ['unicode', 1],
  ['upper', 1], ['hex', 1], ['date', 1], ['json_array', 2], ['json_type', 1], ['json_valid', 1], ['json_extract', 2], ['printf', 2],
  ['concat', 2], ['json_quote', 1],
] // prettier-ignore

const AGGREGATES = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'total',
  'group_concat',
  'json_group_array',
  'median',
]

const CTES = [
  'WITH t AS (SELECT * FROM records)',
  'WITH t(id, n) AS (SELECT id, n FROM records WHERE n > 2)',
  'WITH t AS MATERIALIZED (SELECT id, n, title FROM records)',
  "WITH t(id, n) AS (VALUES ('r1', 1), ('r2', NULL))",
  'WITH RECURSIVE t(n, id) AS (SELECT 1, 2 UNION ALL SELECT n + 1, id FROM t WHERE n < 9)',
  'WITH records AS (SELECT id, n, 1 AS price FROM records)',
]

/** Makes random expressions, statements and filters. */
export class SqlGrammar {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** Returns one SELECT. */
  statement(): string {
    const { chance, pick } = this.#random
    const cte = chance(0.15) ? `${pick(CTES)} ` : ''
    const compound = chance(0.1)
      ? ` ${pick(['UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'])} ${this.#core('records', 1)}`
      : ''
    const columns = compound === '' ? 1 + this.#random.below(3) : 1
    return `${cte}${this.#core(cte === '' ? 'records' : pick(['t', 'records']), columns)}${compound}${this.#tail()}`
  }

  /** Returns one expression, as a filter. */
  filter(): string {
    return this.expression(3)
  }

  /** Returns an expression of at most this depth. */
  expression(depth: number): string {
    const { below, chance, pick } = this.#random
    if (depth === 0) return chance(0.6) ? this.#column() : pick(LITERALS)
    const part = (): string => this.expression(depth - 1)
    switch (below(11)) {
      case 0:
        return `(${part()})`
      case 1:
        return `NOT ${part()}`
      case 2:
        return `${part()} ${pick(['IS NULL', 'IS NOT NULL', 'IS TRUE', 'ISNULL'])}`
      case 3:
        return `${part()} ${pick(['', 'NOT '])}BETWEEN ${part()} AND ${part()}`
      case 4:
        return `${part()} ${pick(['', 'NOT '])}IN (${part()}, ${part()})`
      case 5:
        return `CASE WHEN ${part()} THEN ${part()} ELSE ${part()} END`
      case 6: {
        const [name, count] = pick(FUNCTIONS)
        return `${name}(${Array.from({ length: count }, part).join(', ')})`
      }
      case 7:
        return chance(0.3) ? this.#subquery(depth) : part()
      default:
        return `${part()} ${pick(OPERATORS)} ${part()}`
    }
  }

  #subquery(depth: number): string {
    const { pick } = this.#random
    const inner = this.expression(Math.min(depth - 1, 1))
    return pick([
      `(SELECT ${inner} FROM records AS s LIMIT 1)`,
      `(SELECT count(*) FROM records AS s WHERE ${inner})`,
      `EXISTS (SELECT 1 FROM records AS s WHERE s.n > records.n AND ${inner})`,
      `n IN (SELECT n FROM records AS s WHERE ${inner})`,
      `(SELECT max(value) FROM json_each(records.tags))`,
      `EXISTS (SELECT 1 FROM json_tree(details) WHERE atom = ${inner})`,
    ])
  }

  #core(table: string, columns: number): string {
    const { chance, pick } = this.#random
    const join = chance(0.15)
      ? pick([
          ' JOIN records AS s ON s.n = records.n',
          ', json_each(tags)',
          ' LEFT JOIN records AS s USING (id)',
          ', records AS s',
        ])
      : ''
    const where = chance(0.5) ? ` WHERE ${this.expression(2)}` : ''
    const group = chance(0.15) ? ` GROUP BY ${this.expression(1)}` : ''
    return `SELECT ${pick(['', '', '', 'DISTINCT '])}${this.#columns(columns)} FROM ${table}${join}${where}${group}`
  }

  #columns(count: number): string {
    const { chance } = this.#random
    if (chance(0.1)) return '*'
    return Array.from({ length: count }, (_, index) => `${this.#resultColumn()} AS c${index}`).join(', ')
  }

  #resultColumn(): string {
    const { chance, pick } = this.#random
    if (chance(0.15)) return `${pick(AGGREGATES)}(${this.expression(1)})`
    if (chance(0.08))
      return `${pick(AGGREGATES)}(n) OVER (${pick(['', 'PARTITION BY done ', ''])}ORDER BY id)`
    return this.expression(2)
  }

  #tail(): string {
    const { below, chance } = this.#random
    return (chance(0.3) ? ` ORDER BY ${1 + below(2)}` : '') + (chance(0.2) ? ` LIMIT ${below(8)}` : '')
  }

  #column(): string {
    const { chance, pick } = this.#random
    const field = pick(FIELDS)
    return chance(0.1) ? pick([`records.${field}`, `"${field}"`, `[${field}]`, field.toUpperCase()]) : field
  }
}
