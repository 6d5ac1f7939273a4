import type { JsonObject } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { ContractError, fileError } from '../../../errors/service-error.ts'
import type { ParseContext, Source } from '../../definition/derivation-kind.ts'
import { isSourcePath } from '../../definition/source-path.ts'
import { parseTemplate, type FieldSlot } from '../../definition/template.ts'

/** The template of a prompt. */
export interface Prompt {
  readonly prompt: readonly (string | FieldSlot)[]
  /** The file that has it; null for the derivation file. */
  readonly path: string | null
}

/** Reads `prompt`, or the file that `prompt_ref` names. Throws ContractError. */
export function readPrompt(file: JsonObject, context: ParseContext): Prompt {
  const text = textOf('prompt', file, context)
  const path = textOf('prompt_ref', file, context)
  if ((text === null) === (path === null)) {
    return context.fail([], 'give either prompt, a text, or prompt_ref, a file such as prompts/industry.md')
  }
  const { contract } = context
  if (path === null) {
    const fail = (message: string): never => context.fail(['prompt'], message)
    return { prompt: parseTemplate(text ?? '', { contract, fail }), path }
  }
  if (!isSourcePath(path) || !path.toLowerCase().endsWith('.md')) {
    context.fail(
      ['prompt_ref'],
      `prompt_ref is ${showValue(path)}; name a file inside the sheet that ends in .md`,
    )
  }
  const { bytes, problem } = fileOf(path, context)
  if (bytes === null) return context.fail(['prompt_ref'], `prompt_ref cannot be read: ${problem}`)
  const inFile = (line: number, message: string): never => {
    throw new ContractError(...fileError({ file: path, line, message }, 'invalid_definition'))
  }
  const template = decode(bytes) ?? inFile(1, 'the file is not UTF-8 text; save it as UTF-8')
  if (template.trim() === '') inFile(1, 'the file is empty; write the prompt')
  const fail = (message: string): never =>
    inFile(lineOfFault(template, { contract, fail: () => thrown() }), message)
  return { prompt: parseTemplate(template, { contract, fail }), path }
}

function thrown(): never {
  throw new Error('a placeholder is not valid')
}

/** Returns the line of the first placeholder of a template that is not valid. */
function lineOfFault(template: string, scope: Parameters<typeof parseTemplate>[1]): number {
  const fault = [...template.matchAll(/\{\{[^]*?(?:\}\}|$)/g)].find(([placeholder]) => {
    try {
      parseTemplate(placeholder, scope)
      return false
    } catch {
      return true
    }
  })
  return template.slice(0, fault?.index ?? 0).split('\n').length
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Returns a file of the sheet; without content if it has none. */
export function fileOf(path: string, context: ParseContext): Source {
  return context.source?.(path) ?? { path, bytes: null, problem: `${path} does not exist`, version: '' }
}

/** Returns a key that has a text; null if it is absent. Throws ContractError. */
export function textOf(key: string, file: JsonObject, context: ParseContext): string | null {
  const value = file[key] ?? null
  if (value === null) return null
  if (typeof value === 'string' && value.trim() !== '') return value
  return context.fail([key], `${key} is ${showValue(value)}; write a text`)
}
