/** The mode of an agent's writes: carried out at once, refused, or stored as proposals that a person decides on. */
export type AgentMode = 'write' | 'read-only' | 'propose'

/** The actor of writes if the server is started without one. */
export const DEFAULT_AGENT = 'agent'

/** The permissions of agents, set by the person who starts the server. No input of a tool changes them. */
export interface AgentScope {
  /** The actor of their writes. */
  readonly actor: string
  readonly mode: AgentMode
  /** Whether they may change the contract and the derivations, as the mode says. */
  readonly allowDefinition: boolean
  /** Most calls that all their runs together may begin, and most dollars that they may spend; null for no bound. */
  readonly maxCalls: number | null
  readonly maxCost: number | null
}
