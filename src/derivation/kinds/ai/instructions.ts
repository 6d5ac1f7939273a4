import { createHash } from 'node:crypto'
import type { Contract, Field } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { answerSchema, isStrict } from './answer-schema.ts'
import type { Ask } from './adapters/adapter.ts'
import type { Model } from './models/models-file.ts'
import { systemText } from './prompt.ts'

/** The parts of a request that are the same for all records. */
export interface Instructions {
  readonly system: string
  readonly format: Ask['format']
  /** Identifies them. */
  readonly instructions: string
  /** The bytes of their texts. */
  readonly constantBytes: number
}

/** The parts of a derivation file that its instructions are made from. */
export interface InstructionParts {
  readonly own: string
  readonly form: 'text' | 'json'
  readonly fields: readonly Field[]
  readonly model: Model
}

/** Returns the system message and the form that the API enforces. */
export function instructionsOf(
  { own, form, fields, model }: InstructionParts,
  contract: Contract,
): Instructions {
  const schema = answerSchema(
    contract,
    fields.map(({ name }) => name),
  )
  const format = formatOf(form, schema, model)
  const schemaText = form === 'json' && format.type !== 'json_schema' ? JSON.stringify(schema) : null
  const system = systemText({
    own,
    form,
    about: form === 'text' ? aboutText(schema) : '',
    schema: schemaText,
  })
  const constant = `${system}\n${format.type === 'json_schema' ? JSON.stringify(schema) : format.type}`
  return {
    system,
    format,
    instructions: `sha256:${createHash('sha256').update(constant).digest('hex')}`,
    constantBytes: Buffer.byteLength(constant),
  }
}

/** A schema that structured output cannot express is put into the system message instead. */
function formatOf(
  form: 'text' | 'json',
  schema: JsonObject,
  { api, structuredOutput }: Model,
): Ask['format'] {
  if (form === 'text' || structuredOutput === 'none') return { type: 'text' }
  if (structuredOutput === 'json_schema' && isStrict(schema)) return { type: 'json_schema', schema }
  return { type: api === 'openai' ? 'json_object' : 'text' }
}

/** Describes the only target of a text. */
function aboutText({ properties }: JsonObject): string {
  const [schema] = Object.values(isJsonObject(properties) ? properties : {})
  if (!isJsonObject(schema)) return ''
  const { description, enum: values, type } = schema
  const named = Array.isArray(type) ? (type as readonly JsonValue[]).find((each) => each !== 'null') : type
  const list = Array.isArray(values) ? (values as readonly JsonValue[]).filter((each) => each !== null) : []
  return [
    ...(typeof description === 'string' ? [description] : []),
    ...(named === 'string' || typeof named !== 'string' ? [] : [`JSON of type ${named}`]),
    ...(list.length === 0 ? [] : [`one of ${list.map((each) => JSON.stringify(each)).join(', ')}`]),
  ].join('; ')
}
