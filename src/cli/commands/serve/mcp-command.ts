import { Command } from 'commander'
import { addAgentActor, addAgentOptions, agentScope, type AgentFlags } from './agent-options.ts'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends Omit<SheetFlags, 'actor'>, AgentFlags {}

/** `colophon mcp <sheet>`. */
export function mcpCommand(): Command {
  const command = addSheetArgument(
    new Command('mcp').description(
      'Serve a sheet to an AI agent: the Model Context Protocol over standard input and output.',
    ),
  )
  addAgentActor(command, '')
  addAgentOptions(command, '')
  addExamples(command, [
    ['colophon mcp countries --read-only', 'An agent that may only read'],
    [
      'colophon mcp countries --actor agent:claude --propose --max-cost 2',
      'An agent whose writes wait for a person, and whose runs cost at most two dollars',
    ],
  ])
  return addSheetOptions(command, { calls: true, prints: false, names: false }).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { runMcp } = await import('./run-mcp.ts')
        await runMcp(context, agentScope(flags))
      }),
    ),
  )
}
