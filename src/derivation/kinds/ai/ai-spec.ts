import type { Field } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import type { YamlEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import type { ParseContext, ParsedSpec, RenameContext } from '../../definition/derivation-kind.ts'
import { renameInKeys, renameInTemplates } from '../../definition/rename-edits.ts'
import { MODELS_FILE } from '../../definition/source-path.ts'
import { fieldsOf, type FieldSlot } from '../../definition/template.ts'
import { instructionsOf, type Instructions } from './instructions.ts'
import { parseModels, type Model } from './models/models-file.ts'
import { fileOf, readPrompt, textOf } from './read-prompt.ts'

/** A derivation file of kind `ai`, with its model and its prompt. */
export interface AiSpec extends Instructions {
  readonly model: Model
  readonly prompt: readonly (string | FieldSlot)[]
  readonly form: 'text' | 'json'
  readonly fields: readonly Field[]
  readonly maxOutputTokens: number
  readonly temperature: number | null
}

const KEYS = [
  'model',
  'prompt',
  'prompt_ref',
  'output',
  'output_schema',
  'system',
  'max_output_tokens',
  'temperature',
]

/** The default of folio, whose files can be read too. */
const DEFAULT_OUTPUT_TOKENS = 1024

const MOST_OUTPUT_TOKENS = 1_000_000

/** Reads a file of kind `ai` with `models.yaml` and the file of its prompt. Throws ContractError. */
export function parseAi(
  file: JsonObject,
  targets: readonly string[],
  context: ParseContext,
): ParsedSpec<AiSpec> {
  const unknown = Object.keys(file).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, KEYS)
    context.fail([unknown], `unknown key "${unknown}"; kind ai has ${KEYS.join(', ')}${hint}`)
  }
  const model = readModel(file, context)
  const { prompt, path } = readPrompt(file, context)
  const fields = targets.flatMap((name) => context.contract.fieldByName.get(name) ?? [])
  const form = readForm(file, fields, context)
  checkOutputSchema(file, targets, context)
  const own = textOf('system', file, context) ?? ''
  if (own.includes('{{')) {
    context.fail(
      ['system'],
      'system has a placeholder; it is the same for all records, so write {{ field }} in the prompt',
    )
  }
  const used = fieldsOf(prompt)
  return {
    spec: {
      model,
      prompt,
      form,
      fields,
      ...instructionsOf({ own, form, fields, model }, context.contract),
      maxOutputTokens: numberOf('max_output_tokens', file, context) ?? DEFAULT_OUTPUT_TOKENS,
      temperature: numberOf('temperature', file, context),
    },
    usedFields: used,
    requiredFields: [],
    resources: [{ type: 'host', name: model.host }],
    sources: [MODELS_FILE, ...(path === null ? [] : [path])],
  }
}

/** Returns the edits of a file of kind `ai` for another name of a field; the file of `prompt_ref` is a template. */
export function renameInAi(file: JsonObject, rename: RenameContext): readonly YamlEdit[] {
  const path = file['prompt_ref'] ?? null
  if (typeof path === 'string') rename.templateFile(path)
  return [
    ...renameInTemplates(file['prompt'], ['prompt'], rename),
    ...renameInKeys(file, 'output_schema', rename),
  ]
}

function readModel(file: JsonObject, context: ParseContext): Model {
  const name = textOf('model', file, context)
  if (name === null) {
    return context.fail([], `model is missing; name one of ${MODELS_FILE}`)
  }
  const example = `models: {${/^[\w-]+$/.test(name) ? name : 'small'}: {api: openai, url: …, model: …}}`
  const source = fileOf(MODELS_FILE, context)
  if (source.bytes === null) {
    return context.fail(
      ['model'],
      `model is ${showValue(name)}, and ${source.problem}; add it with ${example}`,
    )
  }
  const models = parseModels(source.bytes, context.contract)
  const model = models.get(name)
  if (model !== undefined) return model
  const known = [...models.keys()]
  const has = known.length === 0 ? 'no models' : known.slice(0, 20).join(', ')
  const hint = didYouMean(name, known)
  return context.fail(
    ['model'],
    `model is ${showValue(name)}, which ${MODELS_FILE} does not have; it has ${has}${hint}; add ${example}`,
  )
}

function readForm(file: JsonObject, fields: readonly Field[], context: ParseContext): 'text' | 'json' {
  const value = file['output'] ?? null
  const isOneText = fields.length === 1 && fields[0]?.type === 'string'
  if (value === null) return isOneText ? 'text' : 'json'
  if (value !== 'text' && value !== 'json') {
    return context.fail(['output'], `output is ${showValue(value)}; write text or json`)
  }
  if (value === 'text' && fields.length > 1) {
    context.fail(['output'], 'output is text, which has one target; write json')
  }
  return value
}

/** Its types are those of the contract; it is there for files that other programs wrote. */
function checkOutputSchema(file: JsonObject, targets: readonly string[], context: ParseContext): void {
  const value = file['output_schema'] ?? null
  if (value === null) return
  const keys = isJsonObject(value) ? Object.keys(value) : []
  if (keys.length === targets.length && targets.every((target) => keys.includes(target))) return
  context.fail(
    ['output_schema'],
    `the keys of output_schema are the targets: ${targets.join(', ')}; or take it out, since the contract has the types`,
  )
}

function numberOf(
  key: 'max_output_tokens' | 'temperature',
  file: JsonObject,
  context: ParseContext,
): number | null {
  const value = file[key] ?? null
  if (value === null) return null
  const isTokens = key === 'max_output_tokens'
  const isValid =
    typeof value === 'number' &&
    (isTokens
      ? Number.isInteger(value) && value >= 1 && value <= MOST_OUTPUT_TOKENS
      : value >= 0 && value <= 2)
  if (isValid) return value
  const allowed = isTokens ? `a whole number from 1 to ${MOST_OUTPUT_TOKENS}` : 'a number from 0 to 2'
  return context.fail([key], `${key} is ${showValue(value)}; write ${allowed}`)
}
