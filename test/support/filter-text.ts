import type { Random } from '../../src/store/suite/support/random.ts'
import type { Expression, Value } from './filter-model.ts'

/** The precedence of operators by SQLite's manual; higher binds tighter. */
const TIGHTNESS = {
  OR: 1,
  AND: 2,
  NOT: 3,
  comparison: 4,
  sum: 7,
  product: 8,
  concat: 9,
  minus: 10,
  atom: 11,
} as const

interface Written {
  readonly text: string
  readonly tightness: number
}

/** Writes a filter as SQL in one of many ways, with the necessary brackets or with some more. */
export class FilterText {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  write(expression: Expression): string {
    return this.#written(expression).text
  }

  #written(expression: Expression): Written {
    const { chance } = this.#random
    const written = this.#bare(expression)
    return chance(0.1) ? atom(`(${written.text})`) : written
  }

  /** Returns the text of a part, in brackets unless it binds tighter than `than`. */
  #part(expression: Expression, than: number): string {
    const { text, tightness } = this.#written(expression)
    return tightness > than ? text : `(${text})`
  }

  #bare(expression: Expression): Written {
    const { comparison, sum, product, concat, minus } = TIGHTNESS
    switch (expression.is) {
      case 'field':
        return atom(this.#name(expression.name))
      case 'literal':
        return literal(expression.value)
      case 'compare':
        return this.#binary(expression, this.#operator(expression.by), comparison)
      case 'arithmetic':
        return this.#binary(
          expression,
          expression.by,
          expression.by === '+' || expression.by === '-' ? sum : product,
        )
      case 'logic':
        return this.#binary(expression, this.#cased(expression.by), TIGHTNESS[expression.by])
      case 'concat':
        return this.#binary(expression, '||', concat)
      case 'not':
        return {
          text: `${this.#cased('NOT')} ${this.#part(expression.of, TIGHTNESS.NOT)}`,
          tightness: TIGHTNESS.NOT,
        }
      case 'minus':
        return { text: `- ${this.#part(expression.of, minus)}`, tightness: minus }
      case 'abs':
      case 'length':
        return atom(`${this.#cased(expression.is)}(${this.write(expression.of)})`)
      case 'null': {
        const spellings = expression.negated ? ['IS NOT NULL', 'NOTNULL', 'NOT NULL'] : ['IS NULL', 'ISNULL']
        return this.#after(expression.of, this.#cased(this.#random.pick(spellings)))
      }
      case 'in': {
        const list = expression.list
          .map((each) => this.write(each))
          .join(this.#random.pick([',', ', ', ' ,\n']))
        return this.#after(expression.of, `${this.#not(expression)}${this.#cased('IN')} (${list})`)
      }
      case 'between': {
        const [from, to] = [this.#part(expression.from, comparison), this.#part(expression.to, comparison)]
        return this.#after(expression.of, `${this.#not(expression)}BETWEEN ${from} AND ${to}`)
      }
      case 'like':
        return this.#after(
          expression.of,
          `${this.#not(expression)}${this.#cased('LIKE')} ${quotedText(expression.pattern)}`,
        )
      case 'coalesce': {
        const name = this.#random.pick(['coalesce', 'ifnull', 'IfNull'])
        return atom(`${name}(${this.write(expression.first)}, ${this.write(expression.second)})`)
      }
      case 'case': {
        const { when, value, otherwise } = expression
        return atom(
          `CASE WHEN ${this.write(when)} THEN ${this.write(value)} ELSE ${this.write(otherwise)} END`,
        )
      }
    }
  }

  #binary(
    { left, right }: { left: Expression; right: Expression },
    operator: string,
    tightness: number,
  ): Written {
    const space = this.#random.pick([' ', ' ', ' ', '\n', ' /* ) */ ', ' -- (\n'])
    // Operators of one precedence are left-associative.
    return {
      text: `${this.#part(left, tightness - 1)}${space}${operator}${space}${this.#part(right, tightness)}`,
      tightness,
    }
  }

  #after(of: Expression, words: string): Written {
    return { text: `${this.#part(of, TIGHTNESS.comparison - 1)} ${words}`, tightness: TIGHTNESS.comparison }
  }

  #not({ negated }: { readonly negated: boolean }): string {
    return negated ? `${this.#cased('NOT')} ` : ''
  }

  #operator(by: string): string {
    const { pick } = this.#random
    if (by === '=') return pick(['=', '=='])
    if (by === '<>') return pick(['<>', '!='])
    if (by === 'IS') return pick(['IS', 'IS NOT DISTINCT FROM', 'is'])
    return by === 'IS NOT' ? pick(['IS NOT', 'IS DISTINCT FROM']) : by
  }

  #name(name: string): string {
    const { pick } = this.#random
    return pick([
      name,
      name,
      name,
      `"${name}"`,
      `[${name}]`,
      `\`${name}\``,
      `records.${name}`,
      name.toUpperCase(),
    ])
  }

  #cased(word: string): string {
    return this.#random.pick([word, word, word.toLowerCase()])
  }
}

function atom(text: string): Written {
  return { text, tightness: TIGHTNESS.atom }
}

function literal(value: Value): Written {
  if (value === null) return atom('NULL')
  if (typeof value === 'string') return atom(quotedText(value))
  const text = typeof value === 'number' && Number.isInteger(value) ? value.toFixed(1) : String(value)
  return text.startsWith('-') ? { text, tightness: TIGHTNESS.minus } : atom(text)
}

function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
