import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'

/** The maps of a PROV-JSON document, in the order in which they are written. */
export const PROV_MAPS = [
  'entity',
  'activity',
  'agent',
  'wasGeneratedBy',
  'used',
  'wasInvalidatedBy',
  'wasDerivedFrom',
  'wasStartedBy',
  'wasAttributedTo',
  'wasAssociatedWith',
] as const
export type ProvMap = (typeof PROV_MAPS)[number]

/** Takes a member of a map of the document. No two of a map have the same id. */
export type TakeStatement = (map: ProvMap, id: string, members: JsonObject) => void

/** Returns the prefixes of a document about a sheet. */
export function prefixes(sheetUuid: string): JsonObject {
  return { sheet: `urn:uuid:${sheetUuid}#`, colophon: 'urn:colophon:' }
}

/** Returns the qualified name of something of the sheet, such as `sheet:value/CH/name/42`. */
export function sheetName(kind: string, ...parts: readonly (string | number)[]): string {
  return `sheet:${[kind, ...parts.map(escaped)].join('/')}`
}

/** Returns a type or a role as a qualified name. */
export function named(name: string): JsonObject {
  return { $: name, type: 'prov:QUALIFIED_NAME' }
}

/** Returns a value as a literal: lists and objects as JSON text. */
export function literal(value: JsonValue): JsonValue {
  if (!Array.isArray(value) && !isJsonObject(value)) return value
  return { $: JSON.stringify(value), type: 'colophon:json' }
}

/** Most parts, which are as they are. */
const PLAIN = /^[\w-]+$/

/** Escapes what the local part of a qualified name cannot have as it is. */
function escaped(part: string | number): string {
  if (typeof part === 'number') return String(part)
  if (PLAIN.test(part)) return part
  return encodeURIComponent(part.toWellFormed()).replace(
    /[!'()*~]|\.$/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Adds statements to a document, and numbers the relations. */
export class ProvWriter {
  readonly #take: TakeStatement
  /** The ids that were added once and for all: not values, of which there are many. */
  readonly #known = new Set<string>()
  #relations = 0

  constructor(take: TakeStatement) {
    this.#take = take
  }

  /** Describes an entity, an activity or an agent. No two calls have the same id. */
  describe(map: 'entity' | 'activity' | 'agent', id: string, members: JsonObject): void {
    this.#take(map, id, members)
  }

  /** Describes something unless this was done before; returns whether it was not. */
  describeOnce(map: 'entity' | 'activity' | 'agent', id: string, members: JsonObject): boolean {
    if (this.#known.has(id)) return false
    this.#known.add(id)
    this.describe(map, id, members)
    return true
  }

  relate(map: Exclude<ProvMap, 'entity' | 'activity' | 'agent'>, members: JsonObject): void {
    this.#relations += 1
    this.#take(map, `_:r${this.#relations}`, members)
  }

  /** Adds that an activity has used a file or another sheet, once. */
  useOnce(activity: string, entity: string, members: JsonObject): void {
    this.describeOnce('entity', entity, members)
    const key = `${activity} ${entity}`
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.relate('used', { 'prov:activity': activity, 'prov:entity': entity })
  }

  /** Adds who is responsible for an activity: the actor of its line, who may have accepted the proposal of another one. */
  associate(
    activity: string,
    { actor, proposer }: { readonly actor: string; readonly proposer?: string },
  ): void {
    this.relate('wasAssociatedWith', { 'prov:activity': activity, 'prov:agent': this.agent(actor) })
    if (proposer === undefined) return
    const agent = this.agent(proposer)
    this.relate('wasAssociatedWith', {
      'prov:activity': activity,
      'prov:agent': agent,
      'prov:role': 'proposer',
    })
  }

  /** Returns the id of an actor, which is described. */
  agent(actor: string): string {
    const id = sheetName('actor', actor)
    const type = actor.startsWith('human:') ? 'prov:Person' : 'prov:SoftwareAgent'
    this.describeOnce('agent', id, { 'prov:type': named(type), 'prov:label': actor })
    return id
  }
}
