/** The parts of a schema that messages use. */
export interface Shape {
  readonly type?: string
  readonly const?: unknown
  readonly title?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}

type Members = Readonly<Record<string, unknown>>

/** The parts of a validator's error that messages use. */
interface Fault {
  readonly keyword: string
  /** A JSON pointer (RFC 6901). */
  readonly instancePath: string
  readonly params: Members
}

/** Whether a shape has a member of this name. */
export function knowsMember(shape: Shape, name: string): boolean {
  return (
    Object.hasOwn(shape.properties ?? {}, name) || (shape.anyOf ?? []).some((one) => knowsMember(one, name))
  )
}

/** The names of the members of a shape, in any of its forms. */
function memberNames({ properties = {}, anyOf = [] }: Shape): readonly string[] {
  return [...new Set([...Object.keys(properties), ...anyOf.flatMap(memberNames)])]
}

/** The form of a shape that allows these members and requires no others; undefined for none. */
export function formWith(shape: Shape, members: Members): Shape | undefined {
  if (shape.anyOf === undefined) return shape
  return shape.anyOf.find(
    (form) =>
      Object.keys(members).every((name) => knowsMember(form, name)) &&
      (form.required ?? []).every((name) => Object.hasOwn(members, name)),
  )
}

/** The message for a member that a shape does not have; `what` is the word for a member. */
export function unknownMember(what: string, name: string, shape: Shape): string {
  const known = memberNames(shape)
  const hint = known.length === 0 ? 'none is known here' : `known here: ${known.join(', ')}`
  return `unknown ${what} ${preview(name)}; ${hint}`
}

/** The message for members that do not match a shape, from the first error. */
export function shapeFault(members: Members, shape: Shape, { keyword, instancePath, params }: Fault): string {
  const path = instancePath.split('/').slice(1)
  if (keyword === 'required') return `"${placeOf([...path, String(params['missingProperty'])])}" is required`
  let value: unknown = members
  let expected: Shape | undefined = shape
  for (const key of path) {
    value = (value as Members)[key]
    expected = expected?.properties?.[key] ?? expected?.items
  }
  if (keyword === 'maxItems' && Array.isArray(value)) {
    return `"${placeOf(path)}" has ${value.length} items; at most ${String(params['limit'])} are possible`
  }
  return `"${placeOf(path)}" is ${preview(value)}; expected ${describe(expected)}`
}

/** Formats a path such as `params[2]`. */
function placeOf([name = '', ...others]: readonly string[]): string {
  return `${name}${others.map((key) => `[${key}]`).join('')}`
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

function describe(shape: Shape | undefined): string {
  if (shape?.title !== undefined) return shape.title
  if (shape?.const !== undefined) return preview(shape.const)
  if (shape?.anyOf !== undefined) return shape.anyOf.map(describe).join(' or ')
  return TYPE_NAMES[shape?.type ?? ''] ?? 'something else'
}

/** Shows a value in a message: scalars as JSON, cut after 100 characters; arrays and objects as `an array` and `an object`. */
export function preview(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  // 1e999 in JSON is Infinity, which JSON.stringify would show as null.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
