import type { CallToolResult } from '@modelcontextprotocol/server'
import { OperationError } from '../../errors/service-error.ts'
import { parseStoredJsonInTurns, stringifyInParts } from '../../sheet/json-body.ts'
import type { Tool, ToolContext } from './tool.ts'
import { toolError } from './tool-error.ts'

/** Characters of JSON that a result has at most: beyond it would fill what an agent can keep in mind. */
export const RESULT_LIMIT = 200_000

/** A result whose JSON has more characters than this is sent as text alone, which every client reads. */
export const STRUCTURED_LIMIT = 10_000

/** Thrown for JSON that is certainly longer than {@link RESULT_LIMIT}. */
class LongResultError extends Error {}

/** UTF-8 has at most so many bytes for a character of JavaScript. */
const BYTES_OF_CHARACTER = 3

/** Parses JSON of the store for a result that has all of it; what a result cannot have is not parsed. */
export async function parseForResult(json: Uint8Array): Promise<unknown> {
  if (json.length > RESULT_LIMIT * BYTES_OF_CHARACTER) throw new LongResultError()
  return parseStoredJsonInTurns(json)
}

/**
 * Calls a tool. The result has its data as JSON text, after a sentence that says what it is, and structured as well unless it
 * is large: an agent would have to read a page twice. Whatever goes wrong is a result too, which tells the agent.
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
    // It is of interest to those who spend it.
    const budget = 'budget' in tool.output.properties ? context.budget.answer : null
    return toolError(error, budget, { dialect: context.sheet.dialect, log })
  }
}

/** The JSON of a result; null where it has more than {@link RESULT_LIMIT} characters, of which no more are made. */
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
  const done = annotations.readOnlyHint === true ? '' : 'it was done, but '
  const hint = smaller.length === 0 ? 'ask for less' : `ask for less with ${smaller.join(' or ')}`
  return new OperationError(
    `${done}the answer has more than ${RESULT_LIMIT} characters; ${hint}`,
    'output_failed',
  )
}
