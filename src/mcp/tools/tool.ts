import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Static, TObject } from 'typebox'
import type { GivenActor } from '../../sheet/resolve-actor.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import type { AgentScope } from './agent-scope.ts'
import { checkArguments } from './argument-check.ts'
import type { CallBudget } from './call-budget.ts'

/** How far a call is, in cells. */
export interface ToolProgress {
  readonly done: number
  readonly total: number
  readonly message: string
}

/** What a tool works on, and whom for. */
export interface ToolContext {
  readonly sheet: Sheet
  readonly scope: AgentScope
  /** Who writes: the scope's actor, or whom a reverse proxy names. */
  readonly actor: GivenActor
  readonly budget: CallBudget
  /** Aborted when the client cancels the call or is gone. */
  readonly signal: AbortSignal
  /** Tells the client how far the call is; null when it did not ask. */
  readonly onProgress: ((progress: ToolProgress) => void) | null
}

/** What a tool comes to. */
export interface ToolResult<Structured> {
  readonly structured: Structured
  /** What it comes to in a sentence or two, and how to get more; the data itself comes beside it. */
  readonly text: string
}

export interface ToolDefinition<I extends TObject, O extends TObject> {
  /** Words joined by `_`, the verb first. */
  readonly name: string
  readonly title: string
  /** For an agent that has to choose: what it does, and when to use another. */
  readonly description: string
  readonly input: I
  readonly output: O
  readonly annotations: ToolAnnotations
  run(input: Static<I>, context: ToolContext): Promise<ToolResult<Static<O>>>
}

/** A tool, whatever it takes and answers. */
export interface Tool extends Omit<ToolDefinition<TObject, TObject>, 'run'> {
  /** Checks the arguments and does the work. Throws ValidationError, and what the work throws. */
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

/** Changes nothing, and asks nobody outside the sheet. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
