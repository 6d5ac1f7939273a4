import { isJsonObject, type JsonObject, type JsonValue } from '../../../../contract/json/json.ts'
import type { Usage } from '../models/price.ts'
import { textIn, usageOf, type Adapter, type Ask, type Reply } from './adapter.ts'

/**
 * Chat completions of OpenAI, as Ollama, llama.cpp, vLLM, LM Studio and gateways speak them too
 * (https://platform.openai.com/docs/api-reference/chat).
 */
export const openai: Adapter = {
  path: '/chat/completions',
  headers: {},
  body({ model, system, turns, format, maxOutputTokens, temperature }) {
    return {
      model: model.model,
      messages: [
        { role: 'system', content: system },
        ...turns.map(({ role, text }) => ({ role, content: text })),
      ],
      [model.outputLimit]: maxOutputTokens,
      ...(temperature !== null && { temperature }),
      ...responseFormat(format),
    }
  },
  respond({ text, model, usage }) {
    return {
      id: 'stub',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
    }
  },
  read(response) {
    if (!isJsonObject(response)) return null
    const { choices } = response
    const [choice] = Array.isArray(choices) ? (choices as readonly JsonValue[]) : []
    if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return null
    const { message } = choice
    const finish = textIn(choice, 'finish_reason')
    const refusal = textIn(message, 'refusal') ?? ''
    return {
      id: textIn(response, 'id'),
      model: textIn(response, 'model'),
      finish,
      stopped: refusal === '' ? stoppedBy(finish, message) : 'refused',
      text: textIn(message, 'content') ?? '',
      refusal,
      usage: usageIn(response),
    }
  },
}

function responseFormat(format: Ask['format']): JsonObject {
  if (format.type === 'text') return {}
  if (format.type === 'json_object') return { response_format: { type: 'json_object' } }
  const schema = { name: 'answer', strict: true, schema: format.schema }
  return { response_format: { type: 'json_schema', json_schema: schema } }
}

function stoppedBy(finish: string | null, message: JsonObject): Reply['stopped'] {
  const calls = message['tool_calls']
  if (Array.isArray(calls) && calls.length > 0) return 'other'
  switch (finish) {
    case 'stop':
      return 'complete'
    case 'length':
      return 'truncated'
    case 'content_filter':
      return 'refused'
    default:
      return 'other'
  }
}

function usageIn({ usage }: JsonObject): Usage | null {
  if (!isJsonObject(usage)) return null
  const details = usage['prompt_tokens_details']
  return usageOf({
    input: usage['prompt_tokens'],
    cached: isJsonObject(details) ? details['cached_tokens'] : undefined,
    written: undefined,
    output: outputIn(usage),
  })
}

/** Some gateways leave tokens of reasoning, which they bill, out of `completion_tokens`; the total has them. */
function outputIn(usage: JsonObject): JsonValue | undefined {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = usage
  const isCounted = [input, output, total].every(Number.isSafeInteger)
  return isCounted ? Math.max(Number(output), Number(total) - Number(input)) : output
}
