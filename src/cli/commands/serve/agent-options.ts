import { Option, type Command } from 'commander'
import { DEFAULT_AGENT, type AgentScope } from '../../../mcp/tools/agent-scope.ts'
import { integerBetween, parseActor, parseDollars } from '../../options/option-values.ts'

/** What commander makes of {@link addAgentOptions} without a prefix. */
export interface AgentFlags {
  readonly actor?: string
  readonly readOnly?: true
  readonly propose?: true
  readonly maxCalls?: number
  readonly maxCost?: number
}

/** The same with the prefix `mcp`. */
export interface PrefixedAgentFlags {
  readonly mcpActor?: string
  readonly mcpReadOnly?: true
  readonly mcpPropose?: true
  readonly mcpMaxCalls?: number
  readonly mcpMaxCost?: number
}

/** Adds what agents may do: `--read-only`, `--propose`, `--max-calls` and `--max-cost`, with `mcp-` before each if so. */
export function addAgentOptions(command: Command, prefix: '' | 'mcp-'): Command {
  const readOnly = new Option(`--${prefix}read-only`, 'agents only read')
  const conflict = prefix === '' ? 'readOnly' : 'mcpReadOnly'
  return command
    .addOption(readOnly)
    .addOption(
      new Option(
        `--${prefix}propose`,
        'writes of agents become proposals, which wait for a person',
      ).conflicts(conflict),
    )
    .addOption(
      new Option(
        `--${prefix}max-calls <number>`,
        'calls that all runs of agents together may make',
      ).argParser(integerBetween(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option(
        `--${prefix}max-cost <dollars>`,
        'dollars that all runs of agents together may spend',
      ).argParser(parseDollars),
    )
}

/**
 * Adds who agents write as. Not by the environment: what a person has there for what they write themselves, an agent shall
 * not inherit.
 */
export function addAgentActor(command: Command, prefix: '' | 'mcp-'): Command {
  return command.addOption(
    new Option(`--${prefix}actor <name>`, 'who agents write as').argParser(parseActor).default(DEFAULT_AGENT),
  )
}

export function agentScope(flags: AgentFlags): AgentScope {
  return {
    actor: flags.actor ?? DEFAULT_AGENT,
    mode: flags.readOnly === true ? 'read-only' : flags.propose === true ? 'propose' : 'write',
    maxCalls: flags.maxCalls ?? null,
    maxCost: flags.maxCost ?? null,
  }
}

export function prefixedAgentScope(flags: PrefixedAgentFlags): AgentScope {
  return agentScope({
    ...(flags.mcpActor === undefined ? {} : { actor: flags.mcpActor }),
    ...(flags.mcpReadOnly === undefined ? {} : { readOnly: flags.mcpReadOnly }),
    ...(flags.mcpPropose === undefined ? {} : { propose: flags.mcpPropose }),
    ...(flags.mcpMaxCalls === undefined ? {} : { maxCalls: flags.mcpMaxCalls }),
    ...(flags.mcpMaxCost === undefined ? {} : { maxCost: flags.mcpMaxCost }),
  })
}
