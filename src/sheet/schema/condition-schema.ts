import type { Contract, LogicalType } from '../../contract/contract.ts'
import { operandSchema, type JsonSchema } from '../../contract/rules/record-schema.ts'
import { FILTER_STATES } from '../../store/cell-state.ts'
import { OPERATORS, type Operator } from '../../store/condition.ts'
import { VERDICTS } from '../../store/stored-review.ts'
import { MAX_LIST, OPERATORS_OF, wireName } from '../queries/read-condition.ts'

const SEARCHING: ReadonlySet<Operator> = new Set(['contains', 'notContains', 'startsWith'])

/** References of the schema of a condition to other schemas. */
export interface ConditionReferences {
  /** The schema itself. */
  readonly self: JsonSchema
  /** The schema of the name of a derived field. */
  readonly target: JsonSchema
  /** The schema of the name of a field. */
  readonly field: JsonSchema
}

/**
 * Returns the JSON Schema of a condition that {@link readCondition} accepts.
 */
export function conditionSchema(
  contract: Contract,
  { self, target, field }: ConditionReferences,
): JsonSchema {
  const namesByType = Map.groupBy(contract.fields, ({ type }) => type)
  const ofFields = [...namesByType].flatMap(([type, fields]) => {
    const names = fields.map(({ name }) => name)
    return formsOf(type).map(({ operators, ...form }) => {
      const properties = {
        field: { type: 'string', enum: names },
        operator: { type: 'string', enum: operators },
        value: form.value,
      }
      return closed(properties, form.isRequired ? ['field', 'operator', 'value'] : ['field', 'operator'])
    })
  })
  const group = { type: 'array', items: self, minItems: 1 }
  return {
    description:
      'A condition on records: on a field, a text in any field, on the states or failures of derived cells, on reviews, on runs, on the writers of values, or a group of conditions.',
    anyOf: [
      ...ofFields,
      closed(
        {
          search: { ...operandSchema('string'), minLength: 1 },
          fields: {
            anyOf: [
              namesOf({ type: 'string', enum: contract.fields.map(({ name }) => name) }),
              { type: 'null' },
            ],
          },
        },
        ['search'],
      ),
      closed(
        {
          review: namesOf({ type: 'string', enum: VERDICTS }),
          fields: { anyOf: [namesOf(field), { type: 'null' }] },
        },
        ['review'],
      ),
      closed(
        {
          state: namesOf({ type: 'string', enum: FILTER_STATES }),
          fields: { anyOf: [namesOf(target), { type: 'null' }] },
        },
        ['state'],
      ),
      closed(
        {
          failure: namesOf({ type: 'string', pattern: '^[0-9a-f]{13}$' }),
          fields: { anyOf: [namesOf(target), { type: 'null' }] },
        },
        ['failure'],
      ),
      closed({ run: namesOf({ type: 'string' }) }, ['run']),
      ...Object.entries({ by: { type: 'string', minLength: 1 }, by_run: { type: 'string' } }).map(
        ([member, name]) =>
          closed({ [member]: namesOf(name), fields: { anyOf: [namesOf(field), { type: 'null' }] } }, [
            member,
          ]),
      ),
      closed({ and: group }, ['and']),
      closed({ or: group }, ['or']),
      closed({ not: self }, ['not']),
    ],
  }
}

function namesOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items, minItems: 1, maxItems: MAX_LIST }
}

interface Form {
  readonly operators: readonly string[]
  readonly value: JsonSchema
  readonly isRequired: boolean
}

/** Groups the operators of a type by the form of their value. */
function formsOf(type: LogicalType): readonly Form[] {
  const operand = operandSchema(type)
  const text = operandSchema('string')
  const groups = Map.groupBy(OPERATORS_OF[type], (operator) =>
    SEARCHING.has(operator) ? 'search' : OPERATORS[operator],
  )
  return [...groups].map(([takes, operators]) => {
    const names = operators.map(wireName)
    switch (takes) {
      case 'none':
        return { operators: names, value: { type: 'null' }, isRequired: false }
      case 'search':
        return { operators: names, value: text, isRequired: true }
      case 'one':
        return { operators: names, value: operand, isRequired: true }
      case 'two':
        return {
          operators: names,
          value: { type: 'array', items: operand, minItems: 2, maxItems: 2 },
          isRequired: true,
        }
      case 'list':
        return {
          operators: names,
          value: {
            type: 'array',
            items: { anyOf: [operand, { type: 'null' }] },
            minItems: 1,
            maxItems: MAX_LIST,
          },
          isRequired: true,
        }
    }
  })
}

function closed(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}
