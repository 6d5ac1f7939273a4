import type { Random } from '../../src/store/suite/support/random.ts'

/** The type of an expression. */
type Kind = 'number' | 'text' | 'truth' | 'json'

/**
 * Expressions of each kind: `N` is replaced by a number, `T` by a text, `B` by a boolean and `J` by JSON. They use the fields id, n, price,
 * done, title, day, tags and details.
 */
const FORMS: Readonly<Record<Kind, readonly string[]>> = {
  number: [
    'n', 'price', 'records.n', '"n"', '1', '2.5', 'NULL::int', '(N + N)', '(N - N)', 'N * N', '-N', 'abs(N)', 'length(T)', 'coalesce(N, N)',
    'CASE WHEN B THEN N ELSE N END', 'greatest(N, N)', '(SELECT max(s.n) FROM records AS s WHERE B)', '(SELECT count(*) FROM records AS s)',
    'extract(year FROM day)', 'N::numeric', 'CAST(N AS int)', 'jsonb_array_length(tags)', "position('a' IN T)", 'round(N)', 'N % 7', 'mod(N::int, 3)',
    'floor(N)', 'nullif(N, 0)', '(ARRAY[N, N])[1]', 'day - day', 'char_length(T)', 'octet_length(T)', 'width_bucket(N, 0, 10, 5)', 'ascii(T)',
    "(details ->> 'k')::int", '(WITH w AS (SELECT N AS v) SELECT v FROM w)', 'least(N)', 'num_nulls(T, N)',
  ],
  text: [
    'id', 'title', "'x'", "'it''s'", "E'a\\'b'", 'lower(T)', 'upper(T)', 'T || T', 'coalesce(T, T)', 'substr(T, 1, 2)', 'substring(T FROM 2)',
    'trim(T)', 'TRIM(BOTH FROM T)', 'replace(T, T, T)', "to_char(day, 'YYYY')", 'N::text', 'left(T, 3)', 'md5(T)', "concat(T, N)", "split_part(T, 'a', 1)",
    "details ->> 'k'", 'tags #>> \'{0}\'', 'CASE WHEN B THEN T END', '(SELECT string_agg(s.id, T ORDER BY s.id) FROM records AS s)', "overlay(T PLACING 'b' FROM 1)",
    'T COLLATE "C"', "regexp_replace(T, 'a', 'b')", "array_to_string(ARRAY[T], ',')", "format('%s', T)", 'reverse(T)', 'J::text', "normalize(T, NFC)", 'records.id',
    'quote_literal(T)', "translate(T, 'a', 'b')", 'initcap(T)',
  ],
  truth: [
    'done', 'records.done', 'true', 'N = N', 'N < N', 'T = T', 'T LIKE T', "T NOT ILIKE '%a'", 'B AND B', 'B OR B', 'NOT B', 'N IS NULL', 'T IS NOT NULL',
    'B IS TRUE', 'N BETWEEN N AND N', 'N IN (N, N)', 'T IN (SELECT s.id FROM records AS s)', 'EXISTS (SELECT 1 FROM records AS s WHERE s.n = N)',
    'N IS DISTINCT FROM N', "T SIMILAR TO 'a%'", "T ~ 'a'", 'J @> J', "day > date '2024-01-01'", "day < now()", "jsonb_exists(details, 'k')", 'N = ANY (ARRAY[N])',
    'N > ALL (SELECT s.n FROM records AS s)', '(B)', 'starts_with(T, T)', "jsonb_path_exists(tags, '$[*] ? (@ == 1)')", 'T IS JSON', 'ROW(N, T) = ROW(N, T)',
    "day + interval '1 day' > day", "'a' = ANY (SELECT jsonb_array_elements_text(tags))", 'bool_and(B) OVER ()',
  ],
  json: [
    'tags', 'details', "'[1]'::jsonb", 'to_jsonb(N)', 'jsonb_build_object(T, N)', "details -> 'k'", 'jsonb_build_array(N, T)', 'tags - 0', 'J || J', 'jsonb_strip_nulls(J)',
    '(SELECT jsonb_agg(s.n) FROM records AS s)', "jsonb_path_query_first(tags, '$[0]')", "jsonb_set(details, '{k}', J)", 'to_jsonb(records)', 'row_to_json(records)::jsonb',
  ],
} // prettier-ignore

const TAILS = [
  '',
  '',
  ' ORDER BY 1',
  ' LIMIT 3',
  ' ORDER BY 1 DESC NULLS LAST LIMIT 2 OFFSET 1',
  ' GROUP BY 1',
  ' FETCH FIRST 2 ROWS ONLY',
]

const SOURCES = [
  'records', 'records', 'records', 'records CROSS JOIN LATERAL (SELECT 1 AS l) AS l', 'records JOIN records AS r USING (id)', 'records, generate_series(1, 2) AS g',
  'records LEFT JOIN LATERAL jsonb_array_elements(records.tags) AS e(item) ON true', '(SELECT * FROM records WHERE done) AS records',
] // prettier-ignore

/** Makes random expressions and statements that PostgreSQL accepts. */
export class PostgresGrammar {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** Returns an expression of at most this depth. */
  expression(kind: Kind, depth: number): string {
    const simple = FORMS[kind].filter((form) => !/\b[NTBJ]\b/.test(form))
    const form = this.#random.pick(depth === 0 ? simple : FORMS[kind])
    const kinds = { N: 'number', T: 'text', B: 'truth', J: 'json' } as const
    return form.replaceAll(/\b[NTBJ]\b/g, (letter) =>
      this.expression(kinds[letter as keyof typeof kinds], depth - 1),
    )
  }

  /** Returns one SELECT. */
  statement(): string {
    const { below, chance, pick } = this.#random
    const columns = Array.from(
      { length: 1 + below(3) },
      (_, index) => `${this.expression(pick(['number', 'text', 'truth', 'json']), below(4))} AS c${index}`,
    )
    const where = chance(0.6) ? ` WHERE ${this.expression('truth', below(3))}` : ''
    const source = pick(SOURCES)
    const select = `SELECT ${chance(0.1) ? 'DISTINCT ' : ''}${columns.join(', ')} FROM ${source}${where}${pick(TAILS)}`
    return chance(0.1) ? `WITH w AS (${select}) SELECT * FROM w` : select
  }
}
