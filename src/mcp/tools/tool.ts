import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Static, TObject } from 'typebox'
import type { GivenActor } from '../../sheet/resolve-actor.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import type { AgentScope } from './agent-scope.ts'
import { checkArguments } from './argument-check.ts'
import type { CallBudget } from './call-budget.ts'

/** The progress of a call, in cells. */
export interface ToolProgress {
  readonly done: number
  readonly total: number
  readonly message: string
}

/** The sheet that a tool works on, and the context of its call. */
export interface ToolContext {
  readonly sheet: Sheet
  readonly scope: AgentScope
  /** The writer: the scope's actor, or the one that a reverse proxy names. */
  readonly actor: GivenActor
  readonly budget: CallBudget
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal
  /** Sends progress to the client; null if it did not ask for it. */
  readonly onProgress: ((progress: ToolProgress) => void) | null
}

/** The result of a tool. */
export interface ToolResult<Structured> {
  readonly structured: Structured
  /** A summary in a sentence or two, and how to get more; the data is sent beside it. */
  readonly text: string
}

export interface ToolDefinition<I extends TObject, O extends TObject> {
  /** Words joined by `_`, starting with the verb. */
  readonly name: string
  readonly title: string
  /** Helps an agent to choose: the effect of the tool, and when to use another. */
  readonly description: string
  readonly input: I
  readonly output: O
  readonly annotations: ToolAnnotations
  run(input: Static<I>, context: ToolContext): Promise<ToolResult<Static<O>>>
}

/** A tool with any input and output. */
export interface Tool extends Omit<ToolDefinition<TObject, TObject>, 'run'> {
  /** Validates the arguments and runs the tool. Throws ValidationError, and the errors of the tool. */
  call(given: unknown, context: ToolContext): Promise<ToolResult<object>>
}

export function defineTool<I extends TObject, O extends TObject>(definition: ToolDefinition<I, O>): Tool {
  const { name, title, description, input, output, annotations } = definition
  return {
    name,
    title,
    description,
    input,
    output,
    annotations,
    call: async (given, context) => {
      const { structured, text } = await definition.run(checkArguments(input, given), context)
      return { structured, text }
    },
  }
}

/** Changes nothing, and contacts nothing outside the sheet. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
