/** What becomes of an agent's writes: made at once, impossible, or proposals that a person decides on. */
export type AgentMode = 'write' | 'read-only' | 'propose'

/** Who writes when the person who starts the server does not say. */
export const DEFAULT_AGENT = 'agent'

/** What the person who starts the server lets agents do. No input of a tool changes any of it. */
export interface AgentScope {
  /** Who agents write as. */
  readonly actor: string
  readonly mode: AgentMode
  /** Calls that all their runs together may begin, and dollars that they may spend; null for no bound. */
  readonly maxCalls: number | null
  readonly maxCost: number | null
}
