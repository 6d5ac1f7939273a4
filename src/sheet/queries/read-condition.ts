import type { Contract, LogicalType } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { parseMoment, TEMPORAL_FORMS } from '../../contract/values/date-time.ts'
import { nearest } from '../../contract/nearest.ts'
import { globError } from '../../contract/values/glob.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { textError } from '../../contract/values/value-structure.ts'
import { groupNumber } from '../../errors/failure-group.ts'
import { ValidationError } from '../../errors/service-error.ts'
import {
  foldCase,
  MAX_FOLDED_LETTERS,
  OPERATORS,
  type Condition,
  type ConditionField,
  type FieldCondition,
  type ReviewCondition,
  type FailureCondition,
  type RunCondition,
  type SearchCondition,
  type StateCondition,
  type WriterCondition,
  type Operand,
  type Operator,
} from '../../store/condition.ts'
import { FILTER_STATES } from '../../store/cell-state.ts'
import { VERDICTS } from '../../store/stored-review.ts'
import { selectFields, unknownFields } from './select-fields.ts'

/** The maximum depth of nested groups. */
const MAX_DEPTH = 20
/** The maximum number of conditions on fields in all groups. */
const MAX_CONDITIONS = 100
/** The maximum number of values in one list, and in all conditions together. */
export const MAX_LIST = 1000
const MAX_OPERANDS = 10_000

const ORDER = ['equals', 'notEquals', 'lessThan', 'atMost', 'greaterThan', 'atLeast', 'between'] as const
const LISTS = ['anyOf', 'noneOf'] as const
const SEARCH = ['contains', 'notContains'] as const
const PRESENCE = ['empty', 'notEmpty'] as const

/** The operators that apply to a type. */
export const OPERATORS_OF: Readonly<Record<LogicalType, readonly Operator[]>> = {
  string: [...ORDER, ...SEARCH, 'startsWith', ...LISTS, ...PRESENCE],
  integer: [...ORDER, ...LISTS, ...PRESENCE],
  number: [...ORDER, ...LISTS, ...PRESENCE],
  boolean: ['equals', 'notEquals', ...LISTS, ...PRESENCE],
  date: [...ORDER, ...LISTS, ...PRESENCE],
  timestamp: [...ORDER, ...LISTS, ...PRESENCE],
  time: [...ORDER, ...LISTS, ...PRESENCE],
  array: ['hasAny', 'hasAll', 'hasNone', ...SEARCH, ...PRESENCE],
  object: [...SEARCH, ...PRESENCE],
}

const OPERATOR_OF: ReadonlyMap<string, Operator> = new Map(
  (Object.keys(OPERATORS) as Operator[]).map((operator) => [wireName(operator), operator]),
)

/**
 * Parses a condition from the JSON text of `{"field", "operator", "value"}`, of `{"search", "fields"}`, of
 * `{"state": […], "fields": […]}` or with `"review"`, or of a group `{"and": […]}`, `{"or": […]}` or `{"not": …}`; null for null. `name` is that
 * of the parameter, for messages. Throws ValidationError that names the error: an unknown field, an operator that does not
 * apply to its type, a value of another type.
 */
export function readCondition(contract: Contract, text: string | null, name = 'where'): Condition | null {
  if (text === null) return null
  return new ConditionReader(contract).read(parsed(text, name), name, 0)
}

/**
 * Validates a text to search values for. Throws ValidationError when no value can contain it, or an engine cannot
 * search for it.
 */
export function searchText(text: string | null): string | null {
  const fault = text === null ? null : (textError(text) ?? searchFault(text))
  if (fault !== null) throw new ValidationError(`search: ${fault}`, 'invalid_condition')
  return text
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ValidationError(
      `${name} is not JSON: ${showValue(text)}; send an object such as {"field":"id","operator":"equals","value":"a"}`,
      'invalid_condition',
    )
  }
}

class ConditionReader {
  readonly #contract: Contract
  #conditions = 0
  #operands = 0

  constructor(contract: Contract) {
    this.#contract = contract
  }

  /** Parses a condition; `place` is its path for messages. */
  read(given: unknown, place: string, depth: number): Condition {
    if (!isJsonObject(given))
      throw new ValidationError(`${place} must be an object, got ${showValue(given)}`, 'invalid_condition')
    if (depth > MAX_DEPTH)
      throw new ValidationError(
        `where has groups nested more than ${MAX_DEPTH} levels deep`,
        'invalid_condition',
      )
    if ('and' in given) return this.#group('and', given, { place, depth })
    if ('or' in given) return this.#group('or', given, { place, depth })
    if ('not' in given) {
      onlyKeys(given, ['not'], place)
      return { kind: 'not', condition: this.read(given['not'], `${place}.not`, depth + 1) }
    }
    if ('search' in given) return this.#ofSearch(given, place)
    if ('state' in given) return this.#ofState(given, place)
    if ('run' in given) return this.#ofRuns(given, place)
    if ('failure' in given) return this.#ofFailures(given, place)
    if ('by' in given || 'by_run' in given) return this.#ofWriters(given, place)
    return 'review' in given ? this.#ofReview(given, place) : this.#ofField(given, place)
  }

  #group(
    kind: 'and' | 'or',
    given: JsonObject,
    { place, depth }: { readonly place: string; readonly depth: number },
  ): Condition {
    onlyKeys(given, [kind], place)
    const parts: unknown = given[kind]
    if (!Array.isArray(parts) || parts.length === 0) {
      throw new ValidationError(
        `${place}.${kind} must be an array of at least one condition, got ${showValue(parts)}`,
        'invalid_condition',
      )
    }
    const read = (part: unknown, index: number): Condition =>
      this.read(part, `${place}.${kind}[${index}]`, depth + 1)
    const [first, ...others] = parts
    return {
      kind,
      conditions: [read(first, 0), ...others.map((part: unknown, index) => read(part, index + 1))],
    }
  }

  #count(): void {
    this.#conditions += 1
    if (this.#conditions > MAX_CONDITIONS)
      throw new ValidationError(`where has more than ${MAX_CONDITIONS} conditions`, 'invalid_condition')
  }

  #ofState(given: JsonObject, place: string): StateCondition {
    onlyKeys(given, ['state', 'fields'], place)
    this.#count()
    const states = namesAmong(FILTER_STATES, given['state'], `${place}.state`)
    return { kind: 'state', states, fields: this.#fieldsOf(given, place) }
  }

  #ofReview(given: JsonObject, place: string): ReviewCondition {
    onlyKeys(given, ['review', 'fields'], place)
    this.#count()
    const verdicts = namesAmong(VERDICTS, given['review'], `${place}.review`)
    return { kind: 'review', verdicts, fields: this.#fieldsOf(given, place) }
  }

  #ofRuns(given: JsonObject, place: string): RunCondition {
    onlyKeys(given, ['run'], place)
    this.#count()
    return { kind: 'run', runs: namesIn(given['run'], `${place}.run`) }
  }

  #ofFailures(given: JsonObject, place: string): FailureCondition {
    onlyKeys(given, ['failure', 'fields'], place)
    this.#count()
    const groups = namesIn(given['failure'], `${place}.failure`)
    const unknown = groups.find((id) => groupNumber(id) === null)
    if (unknown !== undefined)
      throw new ValidationError(
        `${place}.failure: ${showValue(unknown)} is not the id of a group of failures, which is 13 hex digits`,
        'invalid_condition',
      )
    return { kind: 'failure', groups, fields: this.#fieldsOf(given, place) }
  }

  #ofWriters(given: JsonObject, place: string): WriterCondition {
    const member = 'by' in given ? 'by' : 'by_run'
    onlyKeys(given, [member, 'fields'], place)
    this.#count()
    const names = namesIn(given[member], `${place}.${member}`)
    const fields = this.#fieldsOf(given, place)
    if (member === 'by_run') return { kind: 'writer', actors: [], runs: names, fields }
    for (const name of names) {
      const fault = globError(name)
      if (fault !== null)
        throw new ValidationError(
          `${place}.by: the pattern ${showValue(name)}: ${fault}`,
          'invalid_condition',
        )
    }
    return { kind: 'writer', actors: names, runs: [], fields }
  }

  #fieldsOf({ fields = null }: JsonObject, place: string): readonly string[] | null {
    if (fields === null) return null
    const names = namesIn(fields, `${place}.fields`)
    const unknown = names.filter((name) => !this.#contract.fieldByName.has(name))
    if (unknown.length > 0) throw unknownFields(this.#contract, unknown)
    return names
  }

  #ofSearch(given: JsonObject, place: string): SearchCondition {
    onlyKeys(given, ['search', 'fields'], place)
    this.#count()
    const { search, fields: named = null } = given
    const text = typeof search === 'string' ? search : ''
    const fault = textError(text) ?? searchFault(search)
    if (fault !== null || text === '')
      throw new ValidationError(`${place}.search: ${fault ?? 'the text is empty'}`, 'invalid_condition')
    const names = selectFields(this.#contract, named === null ? null : namesIn(named, `${place}.fields`))
    const fields = this.#contract.fields.filter(({ name }) => names.includes(name))
    return { kind: 'search', text, fields: fields.map(({ name, type }) => ({ name, type })) }
  }

  #ofField(given: JsonObject, place: string): FieldCondition {
    onlyKeys(given, ['field', 'operator', 'value'], place)
    this.#count()
    const { field: name } = given
    if (typeof name !== 'string')
      throw new ValidationError(
        `${place}.field must be the name of a field, got ${showValue(name)}`,
        'invalid_condition',
      )
    const known = this.#contract.fieldByName.get(name)
    if (known === undefined) throw unknownFields(this.#contract, [name])
    const field = { name, type: known.type }
    const operator = operatorOf(field, given['operator'], place)
    const operands = this.#operandsOf({ field, operator, itemOf: place }, given['value'])
    return { kind: 'field', field, operator, operands }
  }

  #operandsOf(what: Compared, value: unknown): readonly Operand[] {
    const { operator, itemOf: place } = what
    const valueName = `${place}.value of ${wireName(operator)}`
    switch (OPERATORS[operator]) {
      case 'none':
        if (value !== undefined && value !== null)
          throw new ValidationError(
            `${valueName} must be absent, got ${showValue(value)}`,
            'invalid_condition',
          )
        return []
      case 'one':
        return [checked(what, value)]
      case 'two':
        if (!Array.isArray(value) || value.length !== 2)
          throw new ValidationError(
            `${valueName} must be an array of two values, got ${showValue(value)}`,
            'invalid_condition',
          )
        return value.map((each: unknown) => checked(what, each))
      case 'list': {
        if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LIST) {
          throw new ValidationError(
            `${valueName} must be an array of 1 to ${MAX_LIST} values, got ${showValue(value)}`,
            'invalid_condition',
          )
        }
        this.#operands += value.length
        if (this.#operands > MAX_OPERANDS)
          throw new ValidationError(
            `where has more than ${MAX_OPERANDS} values in its lists`,
            'invalid_condition',
          )
        return value.map((each: unknown) => (each === null ? null : checked(what, each)))
      }
    }
  }
}

/** The field and operator that a value belongs to. */
interface Compared {
  readonly field: ConditionField
  readonly operator: Operator
  /** The path of the condition. */
  readonly itemOf: string
}

function operatorOf({ name, type }: ConditionField, given: unknown, place: string): Operator {
  const fitting = OPERATORS_OF[type]
  const operator = typeof given === 'string' ? OPERATOR_OF.get(given) : undefined
  if (operator !== undefined && fitting.includes(operator)) return operator
  const names = fitting.map(wireName)
  if (operator !== undefined) {
    throw new ValidationError(
      `the operator ${wireName(operator)} does not apply to the field ${name} of type ${type}; use one of ${names.join(', ')}`,
      'invalid_condition',
    )
  }
  const meant = typeof given === 'string' ? nearest(given, names) : null
  const hint = meant === null ? `use one of ${names.join(', ')}` : `did you mean ${meant}?`
  throw new ValidationError(
    given === undefined
      ? `${place}.operator is missing; ${hint}`
      : `${place}.operator is unknown: ${showValue(given)}; ${hint}`,
    'invalid_condition',
  )
}

/** Returns a value if it is valid for its field and operator. Throws ValidationError. */
function checked({ field, operator, itemOf }: Compared, value: unknown): Operand {
  const fault = valueError(field, operator, value)
  if (fault === null) return value as Operand
  throw new ValidationError(
    `${itemOf}.value of ${wireName(operator)} on the field ${field.name} of type ${field.type}: ${fault}`,
    'invalid_condition',
  )
}

function valueError({ type }: ConditionField, operator: Operator, value: unknown): string | null {
  if (typeof value === 'string') {
    const fault = textError(value)
    if (fault !== null) return fault
  }
  if (operator === 'contains' || operator === 'notContains' || operator === 'startsWith')
    return searchFault(value)
  switch (type) {
    case 'string':
      return typeof value === 'string' ? null : `${showValue(value)} is not a string`
    case 'integer':
    case 'number':
      return Number.isFinite(value) ? null : `${showValue(value)} is not a number`
    case 'boolean':
      return typeof value === 'boolean' ? null : `${showValue(value)} is not true or false`
    case 'date':
    case 'timestamp':
    case 'time':
      return typeof value === 'string' && parseMoment(type, value) !== null
        ? null
        : `${showValue(value)} is not ${TEMPORAL_FORMS[type]}`
    case 'array':
    case 'object':
      return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
        ? null
        : `${showValue(value)} is not a string, number or boolean`
  }
}

function searchFault(value: unknown): string | null {
  if (typeof value !== 'string') return `${showValue(value)} is not a string`
  return foldCase(value).replaced.length <= MAX_FOLDED_LETTERS
    ? null
    : `${showValue(value)} has more than ${MAX_FOLDED_LETTERS} different letters beyond ASCII; search for a part of it`
}

/** Returns distinct names of an array, each one of those that are known. Throws ValidationError. */
function namesAmong<Name extends string>(
  known: readonly Name[],
  given: unknown,
  place: string,
): readonly Name[] {
  return namesIn(given, place).map((name) => {
    const found = known.find((each) => each === name)
    if (found !== undefined) return found
    const meant = nearest(name, known)
    const hint = meant === null ? `use one of ${known.join(', ')}` : `did you mean ${meant}?`
    throw new ValidationError(`${place} is unknown: ${showValue(name)}; ${hint}`, 'invalid_condition')
  })
}

/** Returns distinct texts of an array. Throws ValidationError for anything else. */
function namesIn(given: unknown, place: string): readonly string[] {
  const names: readonly unknown[] = Array.isArray(given) ? given : []
  const isOfNames = names.every((name) => typeof name === 'string') && names.length > 0
  if (isOfNames && names.length <= MAX_LIST) return [...new Set(names)]
  throw new ValidationError(
    `${place} must be an array of 1 to ${MAX_LIST} names, got ${showValue(given)}`,
    'invalid_condition',
  )
}

function onlyKeys(given: JsonObject, allowed: readonly string[], place: string): void {
  const other = Object.keys(given).find((key) => !allowed.includes(key))
  if (other === undefined) return
  throw new ValidationError(
    `${place} has the member ${showValue(other)}; a condition has field, operator and value, or search, state, failure, review, by or by_run with fields, or run, or one of and, or, not`,
    'invalid_condition',
  )
}

/** Returns the operator's name on the wire: `atLeast` is `at_least`. */
export function wireName(operator: Operator): string {
  return operator.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
