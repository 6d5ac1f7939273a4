import { Option, type Command } from 'commander'
import { DEFAULT_AGENT, type AgentScope } from '../../../mcp/tools/agent-scope.ts'
import { integerBetween, parseActor, parseDollars } from '../../options/option-values.ts'

/** The parsed options of {@link addAgentOptions} without a prefix. */
export interface AgentFlags {
  readonly actor?: string
  readonly readOnly?: true
  readonly propose?: true
  readonly allowDefinition?: true
  readonly maxCalls?: number
  readonly maxCost?: number
}

/** The parsed options of {@link addAgentOptions} with the prefix `mcp-`. */
export interface PrefixedAgentFlags {
  readonly mcpActor?: string
  readonly mcpReadOnly?: true
  readonly mcpPropose?: true
  readonly mcpAllowDefinition?: true
  readonly mcpMaxCalls?: number
  readonly mcpMaxCost?: number
}

/**
 * Adds the options that restrict agents: `--read-only`, `--propose`, `--allow-definition`, `--max-calls` and
 * `--max-cost`, each with the prefix.
 */
export function addAgentOptions(command: Command, prefix: '' | 'mcp-'): Command {
  const readOnly = new Option(`--${prefix}read-only`, 'let agents only read')
  const conflict = prefix === '' ? 'readOnly' : 'mcpReadOnly'
  return command
    .addOption(readOnly)
    .addOption(
      new Option(
        `--${prefix}propose`,
        'turn writes of agents into proposals, which wait for a person',
      ).conflicts(conflict),
    )
    .addOption(
      new Option(
        `--${prefix}allow-definition`,
        'let agents change the contract and the derivations',
      ).conflicts(conflict),
    )
    .addOption(
      new Option(
        `--${prefix}max-calls <number>`,
        'maximum number of calls of all runs and previews of agents',
      ).argParser(integerBetween(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option(
        `--${prefix}max-cost <dollars>`,
        'maximum cost of all runs and previews of agents',
      ).argParser(parseDollars),
    )
}

/**
 * Adds the actor of agents. It is never read from the environment, so that an agent does not inherit a person's actor.
 */
export function addAgentActor(command: Command, prefix: '' | 'mcp-'): Command {
  return command.addOption(
    new Option(`--${prefix}actor <name>`, 'actor that writes of agents are attributed to')
      .argParser(parseActor)
      .default(DEFAULT_AGENT),
  )
}

export function agentScope(flags: AgentFlags): AgentScope {
  return {
    actor: flags.actor ?? DEFAULT_AGENT,
    mode: flags.readOnly === true ? 'read-only' : flags.propose === true ? 'propose' : 'write',
    allowDefinition: flags.allowDefinition ?? false,
    maxCalls: flags.maxCalls ?? null,
    maxCost: flags.maxCost ?? null,
  }
}

export function prefixedAgentScope(flags: PrefixedAgentFlags): AgentScope {
  return agentScope({
    ...(flags.mcpActor === undefined ? {} : { actor: flags.mcpActor }),
    ...(flags.mcpReadOnly === undefined ? {} : { readOnly: flags.mcpReadOnly }),
    ...(flags.mcpPropose === undefined ? {} : { propose: flags.mcpPropose }),
    ...(flags.mcpAllowDefinition === undefined ? {} : { allowDefinition: flags.mcpAllowDefinition }),
    ...(flags.mcpMaxCalls === undefined ? {} : { maxCalls: flags.mcpMaxCalls }),
    ...(flags.mcpMaxCost === undefined ? {} : { maxCost: flags.mcpMaxCost }),
  })
}
