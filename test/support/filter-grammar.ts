import type { Random } from '../../src/store/suite/support/random.ts'
import type { Expression, Value } from './filter-model.ts'

const COMPARISONS = ['=', '<>', '<', '<=', '>', '>=', 'IS', 'IS NOT'] as const
const TEXTS = [
  '',
  'a',
  'B',
  'b',
  'ab',
  'Ab',
  'éa',
  'É',
  '😀',
  "it's",
  '%',
  '_',
  '--',
  ') OR (',
  '10',
  '9',
  'z z',
] as const
const PATTERNS = [
  '%',
  '',
  'a',
  '_',
  '%a',
  'a%',
  '%B%',
  'é_',
  '_b',
  '%😀',
  '__',
  "%'%",
  '%)%',
  '1%',
  '%%_',
] as const

/** The fields of random filters, by the kind of their values. */
export interface FilterFields {
  readonly integers: readonly string[]
  readonly reals: readonly string[]
  readonly texts: readonly string[]
  readonly booleans: readonly string[]
}

/** Makes random filters: trees whose comparisons are between values of one kind. */
export class FilterGrammar {
  readonly #random: Random
  readonly #fields: FilterFields

  constructor(random: Random, fields: FilterFields) {
    this.#random = random
    this.#fields = fields
  }

  /** Returns an expression that is true, false or unknown. */
  condition(depth: number): Expression {
    const { below, chance, pick } = this.#random
    const negated = chance(0.4)
    if (depth > 0) {
      switch (below(9)) {
        case 0:
        case 1:
        case 2:
          return { is: 'logic', by: 'AND', left: this.condition(depth - 1), right: this.condition(depth - 1) }
        case 3:
        case 4:
          return { is: 'logic', by: 'OR', left: this.condition(depth - 1), right: this.condition(depth - 1) }
        case 5:
          return { is: 'not', of: this.condition(depth - 1) }
        case 6:
          return {
            is: 'case',
            when: this.condition(depth - 1),
            value: this.condition(depth - 1),
            otherwise: this.condition(depth - 1),
          }
        default:
      }
    }
    const operand = chance(0.6) ? () => this.number(2) : () => this.text(1)
    switch (below(8)) {
      case 0:
        return { is: 'null', of: chance(0.5) ? this.#anyField() : operand(), negated }
      case 1:
        return { is: 'in', of: operand(), list: Array.from({ length: below(5) }, operand), negated }
      case 2:
        return { is: 'between', of: operand(), from: operand(), to: operand(), negated }
      case 3:
        return { is: 'like', of: this.text(1), pattern: pick(PATTERNS), negated }
      case 4:
        return chance(0.7) ? { is: 'field', name: pick(this.#fields.booleans) } : this.number(1)
      default:
        return { is: 'compare', by: pick(COMPARISONS), left: operand(), right: operand() }
    }
  }

  /** Returns an expression whose value is a number or NULL. */
  number(depth: number): Expression {
    const { below, pick } = this.#random
    if (depth === 0) return this.#plainNumber()
    switch (below(9)) {
      case 0:
      case 1:
      case 2:
        return {
          is: 'arithmetic',
          by: pick(['+', '-', '*', '/']),
          left: this.number(depth - 1),
          right: this.number(depth - 1),
        }
      case 3:
        return { is: pick(['minus', 'abs']), of: this.number(depth - 1) }
      case 4:
        return { is: 'length', of: this.text(depth - 1) }
      case 5:
        return { is: 'coalesce', first: this.number(depth - 1), second: this.number(depth - 1) }
      default:
        return this.#plainNumber()
    }
  }

  /** Returns an expression whose value is a text or NULL. */
  text(depth: number): Expression {
    const { below, pick } = this.#random
    if (depth > 0 && below(4) === 0)
      return { is: 'concat', left: this.text(depth - 1), right: this.text(depth - 1) }
    if (depth > 0 && below(5) === 0)
      return { is: 'coalesce', first: this.text(depth - 1), second: this.text(depth - 1) }
    if (below(2) === 0) return { is: 'field', name: pick(this.#fields.texts) }
    return { is: 'literal', value: this.#literal(() => pick(TEXTS)) }
  }

  #anyField(): Expression {
    const { integers, reals, texts, booleans } = this.#fields
    return { is: 'field', name: this.#random.pick([...integers, ...reals, ...texts, ...booleans]) }
  }

  #plainNumber(): Expression {
    const { below, chance, pick } = this.#random
    const { integers, reals, booleans } = this.#fields
    if (chance(0.6)) return { is: 'field', name: pick([...integers, ...reals, ...booleans]) }
    return { is: 'literal', value: this.#literal(() => (chance(0.6) ? BigInt(below(12)) : below(24) / 4)) }
  }

  #literal(value: () => Value): Value {
    return this.#random.chance(0.06) ? null : value()
  }
}
