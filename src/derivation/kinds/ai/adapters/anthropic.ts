import { isJsonObject, type JsonObject, type JsonValue } from '../../../../contract/json/json.ts'
import type { Usage } from '../models/price.ts'
import { textIn, usageOf, type Adapter, type Reply } from './adapter.ts'

/** Messages of Anthropic (https://platform.claude.com/docs/en/api/messages). */
export const anthropic: Adapter = {
  path: '/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body({ model, system, turns, format, maxOutputTokens, temperature }) {
    // Only a request that marks a prefix has it cached, and pays for writing it.
    const marked = (model.price?.cacheWrite ?? null) !== null
    return {
      model: model.model,
      max_tokens: maxOutputTokens,
      system: marked ? [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] : system,
      messages: turns.map(({ role, text }) => ({ role, content: text })),
      ...(temperature !== null && { temperature }),
      ...(format.type === 'json_schema' && {
        output_config: { format: { type: 'json_schema', schema: format.schema } },
      }),
    }
  },
  respond({ text, model, usage }) {
    return {
      id: 'stub',
      type: 'message',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: usage.input, output_tokens: usage.output },
    }
  },
  read(response) {
    if (!isJsonObject(response)) return null
    const { content } = response
    if (!Array.isArray(content) || response['type'] !== 'message') return null
    const blocks = (content as readonly JsonValue[]).filter(isJsonObject)
    const finish = textIn(response, 'stop_reason')
    return {
      id: textIn(response, 'id'),
      model: textIn(response, 'model'),
      finish,
      stopped: blocks.some(({ type }) => type === 'tool_use') ? 'other' : stoppedBy(finish),
      text: blocks
        .flatMap((block) => (block['type'] === 'text' ? [textIn(block, 'text') ?? ''] : []))
        .join(''),
      refusal: '',
      usage: usageIn(response),
    }
  },
}

function stoppedBy(finish: string | null): Reply['stopped'] {
  switch (finish) {
    case 'end_turn':
    case 'stop_sequence':
      return 'complete'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'truncated'
    case 'refusal':
      return 'refused'
    default:
      return 'other'
  }
}

/** Counts of this API are apart: input tokens, those read from the cache, and those written to it. */
function usageIn({ usage }: JsonObject): Usage | null {
  if (!isJsonObject(usage)) return null
  const cached = usage['cache_read_input_tokens'] ?? 0
  const written = usage['cache_creation_input_tokens'] ?? 0
  const fresh = usage['input_tokens']
  const isCounted = [fresh, cached, written].every((count) => typeof count === 'number')
  const input = isCounted ? Number(fresh) + Number(cached) + Number(written) : null
  return usageOf({ input, cached, written, output: usage['output_tokens'] })
}
