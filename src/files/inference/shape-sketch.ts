import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { kindOf, type Kind } from '../columns/value-kind.ts'

/** Objects with more different properties are maps whose keys are data: their structure is left open. */
const MAX_PROPERTIES = 30

/** The depth beyond which structure is left open. */
const MAX_DEPTH = 5

/** The most parts that are described of a column, at all depths together. */
const MAX_DESCRIBED = 200

/** Collects what values inside arrays or objects have in common, in memory that does not grow with their number. */
export class ShapeSketch {
  readonly #depth: number
  readonly #kinds = new Set<Kind>()
  /** The number of values, and of nulls among them. */
  #count = 0
  #nulls = 0
  #items: ShapeSketch | null = null
  /** The properties; null if there are too many. */
  #properties: Map<string, ShapeSketch> | null = new Map()
  #objects = 0

  /** The number of further parts that may be described, shared by all sketches. */
  readonly #room: { left: number }

  constructor(depth = 0, room = { left: MAX_DESCRIBED }) {
    this.#depth = depth
    this.#room = room
  }

  /** Adds a value. */
  add(value: JsonValue): void {
    this.#count += 1
    if (value === null) {
      this.#nulls += 1
      return
    }
    const kind = kindOf(value, 'values')
    if (kind !== null) this.#kinds.add(kind)
    if (Array.isArray(value)) this.#addItems(value)
    else if (isJsonObject(value)) this.#addProperties(value)
  }

  /** Returns the ODCS keys of the common structure: `logicalType` if all agree, with `items` and `properties`. */
  describe(): JsonObject {
    const type = this.#type()
    return {
      ...(type === null ? {} : { logicalType: type }),
      ...(type === 'array' ? this.#describeItems() : {}),
      ...(type === 'object' ? this.#describeProperties() : {}),
    }
  }

  get #alwaysThere(): boolean {
    return this.#count > 0 && this.#nulls === 0
  }

  #type(): string | null {
    return typeOfKinds(this.#kinds) ?? null
  }

  #addItems(items: readonly JsonValue[]): void {
    if (this.#depth >= MAX_DEPTH) return
    this.#items ??= new ShapeSketch(this.#depth + 1, this.#room)
    for (const item of items) this.#items.add(item)
  }

  #addProperties(object: JsonObject): void {
    this.#objects += 1
    if (this.#depth >= MAX_DEPTH || this.#properties === null) return
    for (const [name, value] of Object.entries(object)) {
      let sketch = this.#properties.get(name)
      if (sketch === undefined) {
        if (this.#room.left === 0) continue
        this.#room.left -= 1
        sketch = new ShapeSketch(this.#depth + 1, this.#room)
        this.#properties.set(name, sketch)
      }
      sketch.add(value)
    }
    if (this.#properties.size > MAX_PROPERTIES) this.#properties = null
  }

  #describeItems(): JsonObject {
    const items = this.#items?.describe() ?? {}
    return Object.keys(items).length === 0 ? {} : { items }
  }

  #describeProperties(): JsonObject {
    const properties = [...(this.#properties ?? [])].flatMap(([name, sketch]) =>
      // Words that would be unsafe as keys, and unnamed keys, are left open.
      name === '__proto__' || name === ''
        ? []
        : [
            {
              name,
              ...sketch.describe(),
              ...(sketch.#count === this.#objects && sketch.#alwaysThere ? { required: true } : {}),
            },
          ],
    )
    return properties.length === 0 ? {} : { properties }
  }
}

/** Returns the type that accepts all these kinds, null if only text does. */
export function typeOfKinds(kinds: ReadonlySet<Kind>): Exclude<Kind, 'text'> | 'string' | null {
  const [only, second] = kinds
  if (only === undefined) return null
  if (second === undefined) return only === 'text' ? 'string' : only
  if (kinds.size === 2 && kinds.has('integer') && kinds.has('number')) return 'number'
  const texts: readonly Kind[] = ['text', 'date', 'timestamp', 'time']
  return [...kinds].every((kind) => texts.includes(kind)) ? 'string' : null
}
