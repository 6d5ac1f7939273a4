import { fromJsonSchema, type GetPromptResult, type McpServer } from '@modelcontextprotocol/server'
import { Type, type Static, type TObject } from 'typebox'
import { closedObject } from '../wire/schema/closed-object.ts'
import type { AgentMode } from './tools/agent-scope.ts'
import { checkArguments } from './tools/argument-check.ts'
import { protocolError } from './protocol-error.ts'
import { TAKES_ANYTHING } from './takes-anything.ts'

interface PromptDefinition<A extends TObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly args: A
  text(args: Static<A>, mode: AgentMode): string
}

interface Prompt extends Omit<PromptDefinition<TObject>, 'text'> {
  render(given: unknown, mode: AgentMode): string
}

function definePrompt<A extends TObject>({ text, ...definition }: PromptDefinition<A>): Prompt {
  return { ...definition, render: (given, mode) => text(checkArguments(definition.args, given ?? {}), mode) }
}

const optional = (description: string) => Type.Optional(Type.String({ description }))

const fillMissing = definePrompt({
  name: 'fill_missing_cells',
  title: 'Fill missing cells',
  description:
    'Computes the missing derived cells within a cost, and reports the cells that could not be computed.',
  args: closedObject({
    target: optional('A derived field; all when absent.'),
    max_cost: optional('The maximum cost in dollars.'),
  }),
  text({ target, max_cost: maxCost }, mode) {
    const which = target === undefined ? 'every derived field' : `the derived field ${quoted(target)}`
    const bound = maxCost === undefined ? '' : `, with max_cost ${maxCost},`
    const run =
      mode === 'read-only'
        ? 'This server only reads, so do not run it: report the plan and its cost.'
        : `If I agree, run materialize with the same arguments${bound} for a few records first (limit 5), check the results, then run the rest.`
    return [
      `Fill in the missing cells of ${which}.`,
      '1. get_status returns how many cells are missing, stale and failed.',
      `2. plan_materialize with only "missing"${target === undefined ? '' : ` and targets [${quoted(target)}]`} returns the calls and the cost. Report both${maxCost === undefined ? '' : `; the cost must not exceed $${maxCost}`}.`,
      `3. ${run}`,
      '4. Report how many cells were computed and the cost. Name the reasons of failed cells (group_failures). For blocked cells, name the input (explain_cell).',
    ].join('\n')
  },
})

const findOdd = definePrompt({
  name: 'find_odd_values',
  title: 'Find odd values',
  description: 'Looks for values that are likely wrong: out of range, misspelt, contradictory, duplicate.',
  args: closedObject({ field: optional('A field; all when absent.') }),
  text({ field }, mode) {
    const which = field === undefined ? 'the fields of this sheet' : `the field ${quoted(field)}`
    const nextStep = {
      write: 'Change nothing until I say which.',
      'read-only': 'This server only reads: report the changes that you would make.',
      propose:
        'If you are sure of a better value, propose it with upsert_records and a note with the reason.',
    }[mode]
    return [
      `Find values in ${which} that are likely wrong.`,
      '1. get_contract returns the meaning of each field and the values that it may have.',
      '2. summarize_records returns the distribution of values: look at the ends of histograms, at rare values similar to frequent ones, and at fields without values.',
      '3. Check suspicions with query (groups, comparisons between fields, duplicates), a few records at a time.',
      '4. For each odd value, get_provenance returns its origin; report it.',
      `5. Report record, field, value, why it is odd, its origin and the likely correct value, the most certain first. ${nextStep}`,
    ].join('\n')
  },
})

const explain = definePrompt({
  name: 'explain_cell',
  title: 'Explain a cell',
  description: 'Explains the origin of the value of a cell, and its state.',
  args: closedObject({
    record_id: Type.String({ minLength: 1, title: 'a record id', description: 'The id of the record.' }),
    field: Type.String({ minLength: 1, title: 'a field name', description: 'The field of the cell.' }),
  }),
  text: ({ record_id: recordId, field }) =>
    [
      `Explain the cell of the field ${quoted(field)} in the record ${quoted(recordId)} to someone who does not know how it is computed.`,
      `1. get_provenance with history returns the origin of its value, and earlier values.`,
      `2. If the field is derived (see get_contract with fields [${quoted(field)}]), explain_cell explains its state, and list_derivations how it is computed.`,
      '3. get_record returns the inputs that it was computed from.',
      'Answer in a few sentences: the value, who or what wrote it and when, whether it is up to date, and what would change that.',
    ].join('\n'),
})

/** The prompts, by name. */
export const PROMPTS: readonly Prompt[] = [fillMissing, findOdd, explain]

/** Registers the prompts for common tasks. */
export function registerPrompts(server: McpServer, mode: AgentMode, log: (error: unknown) => void): void {
  for (const { name, title, description, args, render } of PROMPTS) {
    const argsSchema = fromJsonSchema(args, TAKES_ANYTHING)
    server.registerPrompt(name, { title, description, argsSchema }, (given): GetPromptResult => {
      try {
        return { messages: [{ role: 'user', content: { type: 'text', text: render(given, mode) } }] }
      } catch (error) {
        throw protocolError(error, null, log)
      }
    })
  }
}

/** Quotes an argument: it is a name, not a part of the sentence around it. */
function quoted(text: string): string {
  return JSON.stringify(text)
}
