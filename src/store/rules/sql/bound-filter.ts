import { QueryError } from '../../../errors/service-error.ts'
import type { SqlParam } from '../../sheet-store.ts'

interface Token {
  readonly kind: string
  readonly text: string
}

/**
 * Returns a filter with the values of its placeholders `?` as literals, which both dialects write alike; `tokens` are all
 * of its text. Throws QueryError where there are more or fewer values than placeholders, and for a text that has no
 * literal.
 */
export function boundFilter(tokens: readonly Token[], params: readonly SqlParam[]): string {
  const isPlace = ({ kind, text }: Token): boolean => kind === 'placeholder' && text === '?'
  const places = tokens.filter(isPlace).length
  if (places !== params.length) {
    throw new QueryError(
      `placeholders in the filter: ${places}, values in params: ${params.length}`,
      'wrong_parameters',
    )
  }
  const values = params.values()
  return tokens
    .map((token) => (isPlace(token) ? ` ${literal(values.next().value ?? null)} ` : token.text))
    .join('')
}

function literal(value: SqlParam): string {
  if (value === null) return 'NULL'
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  // A minus before a number could join another to become a comment.
  if (typeof value === 'number') return `(${value})`
  if (value.includes('\0') || !value.isWellFormed()) {
    throw new QueryError('a text with U+0000 or a lone surrogate cannot be compared with', 'wrong_parameters')
  }
  return `'${value.replaceAll("'", "''")}'`
}
