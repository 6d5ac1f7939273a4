import type { YamlPath } from '../../src/contract/yaml/edit/yaml-edit.ts'
import type { Random } from '../../src/store/suite/support/random.ts'

/** A generated YAML text, and the lines of each of its parts. */
export interface RandomYaml {
  readonly text: string
  readonly parts: readonly Part[]
}

/** A key with its value, or an item. */
export interface Part {
  readonly path: YamlPath
  /** The first and last line, from 0, with the comments that belong to it. */
  readonly from: number
  readonly to: number
  readonly kind: 'scalar' | 'map' | 'list'
  readonly isFlow: boolean
  /** Whether it is inside of brackets. */
  readonly inFlow: boolean
  /** The number of members of a map or list. */
  readonly size: number
}

const WORDS = [
  'id',
  'name',
  'Zürich',
  'a b',
  'x: y',
  "it's",
  '- dash',
  '#no',
  'true',
  '12',
  'null',
  '日本 text',
  'tab\there',
  '{{ field }}',
  '',
  ' pad ',
]

/** Generates a map in the forms in which people and programs write YAML. */
export function randomYaml(random: Random): RandomYaml {
  const writer = new Writer(random)
  return writer.document()
}

class Writer {
  readonly #random: Random
  readonly #lines: string[] = []
  readonly #parts: Part[] = []
  readonly #indentSeq: boolean
  readonly #spaced: boolean
  #counter = 0
  #anchors: string[] = []

  constructor(random: Random) {
    this.#random = random
    this.#indentSeq = this.#chance(0.7)
    this.#spaced = this.#chance(0.3)
  }

  document(): RandomYaml {
    if (this.#chance(0.2)) this.#lines.push(this.#comment(0), ...(this.#chance(0.5) ? [''] : []))
    if (this.#chance(0.2)) this.#lines.push('---')
    this.#map([], 0, 0)
    if (this.#chance(0.2)) this.#lines.push('', this.#comment(0))
    if (this.#chance(0.1)) this.#lines.push('...')
    const eol = this.#chance(0.3) ? '\r\n' : '\n'
    const end = this.#chance(0.8) ? eol : ''
    const bom = this.#chance(0.1) ? '\uFEFF' : ''
    return { text: bom + this.#lines.join(eol) + end, parts: this.#parts }
  }

  #chance(share: number): boolean {
    return this.#random.chance(share)
  }

  #int(below: number): number {
    return this.#random.below(below)
  }

  #unique(): string {
    this.#counter += 1
    return `k${this.#counter}`
  }

  #comment(columns: number): string {
    return `${' '.repeat(columns)}#${this.#chance(0.2) ? '\t' : ' '}note ${this.#unique()}`
  }

  /** Writes the members of a map; the first continues the last line if that ends in a dash. */
  #map(path: YamlPath, columns: number, depth: number, inline = false): number {
    const size = 1 + this.#int(3)
    for (let index = 0; index < size; index += 1) {
      const isInline = inline && index === 0
      const from = isInline ? this.#lines.length - 1 : this.#lines.length
      if (!isInline && this.#chance(0.15) && index > 0) this.#lines.push(this.#comment(columns))
      const key = this.#unique()
      const shown = this.#chance(0.1) ? `"${key}"` : this.#chance(0.1) ? `'${key}'` : key
      if (isInline) this.#lines[from] += `${shown}:`
      else this.#lines.push(`${' '.repeat(columns)}${shown}:`)
      this.#value([...path, key], columns, depth, from)
    }
    return size
  }

  #list(path: YamlPath, columns: number, depth: number, inline = false): number {
    const size = 1 + this.#int(3)
    for (let index = 0; index < size; index += 1) {
      const isInline = inline && index === 0
      if (!isInline && this.#spaced && depth < 2 && index > 0) this.#lines.push('')
      const from = isInline ? this.#lines.length - 1 : this.#lines.length
      if (!isInline && this.#chance(0.15) && index > 0) this.#lines.push(this.#comment(columns))
      if (isInline) this.#lines[from] += '-'
      else this.#lines.push(`${' '.repeat(columns)}-`)
      this.#item([...path, index], columns, depth, from)
    }
    return size
  }

  #item(path: YamlPath, columns: number, depth: number, from: number): void {
    if (depth > 2 || this.#chance(0.4)) return this.#scalar(path, columns, from)
    this.#append(' ')
    const isMap = this.#chance(0.75)
    const size = isMap
      ? this.#map(path, columns + 2, depth + 1, true)
      : this.#list(path, columns + 2, depth + 1, true)
    this.#add({ path, from, kind: isMap ? 'map' : 'list', isFlow: false, inFlow: false, size })
  }

  #value(path: YamlPath, columns: number, depth: number, from: number): void {
    if (depth > 2 || this.#chance(0.45)) return this.#scalar(path, columns, from)
    if (this.#chance(0.3)) return this.#flow(path, columns, from)
    const isMap = this.#chance(0.5)
    const anchor = this.#chance(0.1) ? `a${this.#unique()}` : null
    if (anchor !== null) this.#append(` &${anchor}`)
    if (this.#chance(0.1)) this.#append(`  # note ${this.#unique()}`)
    const size = isMap
      ? this.#map(path, columns + 2, depth + 1)
      : this.#list(path, columns + (this.#indentSeq ? 2 : 0), depth + 1)
    // An alias cannot be inside of what it stands for.
    if (anchor !== null) this.#anchors.push(anchor)
    this.#add({ path, from, kind: isMap ? 'map' : 'list', isFlow: false, inFlow: false, size })
  }

  #anchor(): string {
    const name = `a${this.#unique()}`
    this.#anchors.push(name)
    return name
  }

  #append(text: string): void {
    this.#lines[this.#lines.length - 1] += text
  }

  #add(part: Omit<Part, 'to'>): void {
    this.#parts.push({ ...part, to: this.#lines.length - 1 })
  }

  #scalar(path: YamlPath, columns: number, from: number): void {
    const form = this.#int(9)
    const word = WORDS[this.#int(WORDS.length)] ?? ''
    const end = this.#chance(0.2) ? `${this.#chance(0.5) ? ' ' : '\t'}# note ${this.#unique()}` : ''
    const inside = ' '.repeat(columns + 2)
    if (form === 0) this.#append(end === '' ? '' : ` ~${end}`)
    else if (form === 1) this.#append(` '${word.replaceAll("'", "''")} old'${end}`)
    else if (form === 2) this.#append(` ${JSON.stringify(`${word} old`)}${end}`)
    else if (form === 3) {
      this.#append(` ${this.#random.pick(['|', '>-', '|-', '|+', '>', '>+'])}`)
      this.#lines.push(
        `${inside}one old ${word}`.trimEnd(),
        ...(this.#chance(0.4) ? [''] : []),
        `${inside}# old two`,
      )
      if (!this.#spaced && this.#chance(0.2)) this.#lines.push('')
    } else if (form === 4 && this.#anchors.length > 0) {
      this.#append(` *${this.#anchors[this.#int(this.#anchors.length)]}`)
    } else if (form === 5) this.#append(` &${this.#anchor()} old${end}`)
    else if (form === 6) this.#append(` ${this.#int(1000)}${end}`)
    else if (form === 7) {
      this.#append(' long plain')
      this.#lines.push(`${inside}old text`)
    } else this.#append(` plain old ${'word '.repeat(this.#int(40))}end${end}`)
    this.#add({ path, from, kind: 'scalar', isFlow: false, inFlow: false, size: 0 })
  }

  #flow(path: YamlPath, columns: number, from: number): void {
    const isMap = this.#chance(0.5)
    const size = this.#int(4)
    const isLong = this.#chance(0.4)
    const members = Array.from({ length: size }, () => this.#unique())
    const texts = members.map((name) => {
      const scalar = this.#chance(0.3) ? `"${name} old"` : this.#chance(0.2) ? '[1, {b: old}]' : 'old'
      return isMap ? `${name}: ${scalar}` : scalar
    })
    const [open, close] = isMap ? '{}' : '[]'
    const steps = members.map((name, index) => [...path, isMap ? name : index])
    if (isLong && size > 0) {
      this.#append(` ${open}`)
      for (const [index, text] of texts.entries()) {
        const comma = index < size - 1 || this.#chance(0.5) ? ',' : ''
        const note = this.#chance(0.2) ? ` # note ${this.#unique()}` : ''
        this.#lines.push(`${' '.repeat(columns + 4)}${text}${comma}${note}`)
      }
      this.#lines.push(`${' '.repeat(columns + 2)}${close}`)
    } else {
      const pad = this.#chance(0.3) ? ' ' : ''
      this.#append(` ${open}${pad}${texts.join(', ')}${pad}${close}`)
    }
    if (this.#chance(0.15)) this.#append(` # note ${this.#unique()}`)
    this.#add({ path, from, kind: isMap ? 'map' : 'list', isFlow: true, inFlow: false, size })
    for (const step of steps) {
      this.#parts.push({
        path: step,
        from,
        to: this.#lines.length - 1,
        kind: 'scalar',
        isFlow: false,
        inFlow: true,
        size: 0,
      })
    }
  }
}
