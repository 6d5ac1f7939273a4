import type { CallToolResult } from '@modelcontextprotocol/server'
import { OperationError } from '../../errors/service-error.ts'
import { parseStoredJsonInTurns, stringifyInParts } from '../../sheet/json-body.ts'
import type { Tool, ToolContext } from './tool.ts'
import { toolError } from './tool-error.ts'

/** Most characters of JSON in a result: more would fill an agent's context. */
export const RESULT_LIMIT = 200_000

/** Longest JSON that is also sent as structured content; a longer result is text alone, which every client reads. */
export const STRUCTURED_LIMIT = 10_000

/** Thrown for JSON that is certainly longer than {@link RESULT_LIMIT}. */
class LongResultError extends Error {}

/** Most bytes of UTF-8 for a UTF-16 code unit. */
const BYTES_OF_CHARACTER = 3

/** Parses JSON of the store for a result that includes all of it; refuses to parse what is too long for a result. */
export async function parseForResult(json: Uint8Array): Promise<unknown> {
  if (json.length > RESULT_LIMIT * BYTES_OF_CHARACTER) throw new LongResultError()
  return parseStoredJsonInTurns(json)
}

/**
 * Calls a tool. The result has a sentence of description and its data as JSON text; short data is structured content as well, since an
 * agent would read a long page twice. An error is a result too, so that the agent sees it.
 */
export async function callTool(
  tool: Tool,
  given: unknown,
  { context, log }: { readonly context: ToolContext; readonly log: (error: unknown) => void },
): Promise<CallToolResult> {
  try {
    const { structured, text } = await tool.call(given, context)
    const json = shortJson(structured)
    if (json === null) throw tooLong(tool)
    return {
      content: [
        { type: 'text', text },
        { type: 'text', text: json },
      ],
      ...(json.length <= STRUCTURED_LIMIT && { structuredContent: { ...structured } }),
    }
  } catch (thrown) {
    const error = thrown instanceof LongResultError ? tooLong(tool) : thrown
    // Tools that spend from the budget report it.
    const budget = 'budget' in tool.output.properties ? context.budget.answer : null
    return toolError(error, budget, { dialect: context.sheet.dialect, log })
  }
}

/** Returns the JSON of a result; null if it has more than {@link RESULT_LIMIT} characters. It stops serializing there. */
function shortJson(structured: object): string | null {
  let json = ''
  for (const part of stringifyInParts(structured)) {
    json += part
    if (json.length > RESULT_LIMIT) return null
  }
  return json
}

function tooLong({ input, annotations }: Tool): OperationError {
  const smaller = Object.keys(input.properties).filter((name) => name === 'fields' || name === 'limit')
  const done = annotations.readOnlyHint === true ? '' : 'the operation succeeded, but '
  const hint = smaller.length === 0 ? 'ask for less' : `ask for less with ${smaller.join(' or ')}`
  return new OperationError(
    `${done}the result has more than ${RESULT_LIMIT} characters; ${hint}`,
    'output_failed',
  )
}
