import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Alias, CST, Document, Node, YAMLMap, YAMLSeq } from 'yaml'
import { LineCounter, visit } from 'yaml'
import type { JsonValue } from '../../json/json.ts'
import { parseDocument } from '../yaml-document.ts'
import { checkFileSize, tokensOf, type YamlLimits } from '../yaml-limits.ts'
import { keyOf, YamlValue } from '../yaml-value.ts'
import type { YamlPath } from './yaml-edit.ts'

/** A map or a list of the text. */
export type YamlCollection = YAMLMap | YAMLSeq

/** A key with its value, or an item, as the text has it. */
export interface Entry {
  /** Null for a value that the text leaves out. */
  readonly node: Node | null
  /** The node of the key; null in a list. */
  readonly key: Node | null
  /** The index of the first character: `-` of a list, the key of a map, or its anchor. */
  readonly start: number
  /** The index after the last character of the value, before a comment, empty lines and the line break. */
  readonly end: number
  /** The index after `:` or `-`, where a value that the text leaves out would begin; `start` of an item in brackets. */
  readonly valueStart: number
  /** The index of the first character of the value with its anchor and tag. */
  readonly nodeStart: number
  /** The index after the anchor and tag of the value; `valueStart` without them. */
  readonly propsEnd: number
  /** Whether the value has a tag. */
  readonly isTagged: boolean
}

/** A YAML text with its value and the positions of its parts. */
export class YamlSource {
  readonly text: string
  readonly value: JsonValue
  /** The line break of the file. */
  readonly eol: '\n' | '\r\n'
  readonly document: Document.Parsed
  readonly #content: YamlValue

  /** Throws ContractError for a file beyond the limits, YamlError for another error. */
  constructor(text: string, file: string, limits: YamlLimits) {
    checkFileSize(text.length, file, limits.bytes)
    this.text = text
    this.eol = /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n'
    this.document = parseDocument(tokensOf(text, file, limits), new LineCounter().addNewLine, true)
    this.#content = new YamlValue(this.document, limits)
    this.value = this.#content.value
  }

  /** Returns the nodes from the root to a path, which may be aliases. Ends early at a path that does not exist. */
  nodes(path: YamlPath): (Node | null)[] {
    let node = this.document.contents as Node | null
    const nodes = [node]
    for (const step of path) {
      const inside = isAlias(node) ? (this.#content.target(node) ?? null) : node
      const next = childOf(inside, step)
      if (next === undefined) break
      node = next
      nodes.push(node)
    }
    return nodes
  }

  /** Returns the map or list at a path; null for another value. */
  collection(path: YamlPath): YamlCollection | null {
    const nodes = this.nodes(path)
    const node = nodes.length > path.length ? nodes.at(-1) : null
    return isMap(node) || isSeq(node) ? node : null
  }

  /** Returns the aliases of a node, in the order of the text. */
  aliasesOf(node: Node): readonly Alias[] {
    const aliases: Alias[] = []
    visit(this.document, {
      Alias: (_, alias) => {
        if (this.#content.target(alias) === node) aliases.push(alias)
      },
    })
    return aliases
  }

  /** Returns the value that an alias stands for. */
  valueOf(alias: Alias): JsonValue {
    const value = this.#content.valueOf(alias)
    if (value === undefined) throw new Error(`the alias *${alias.source} has no value`)
    return value
  }

  /** Returns the index of the first character of a line, after a byte order mark. */
  lineStart(offset: number): number {
    const start = offset === 0 ? 0 : this.text.lastIndexOf('\n', offset - 1) + 1
    return start === 0 && offset > 0 && this.text.startsWith('\uFEFF') ? 1 : start
  }

  /** Returns the index of the line break after an index, or the length of the text. */
  lineEnd(offset: number): number {
    const at = this.text.indexOf('\n', offset)
    if (at === -1) return this.text.length
    return at > offset && this.text[at - 1] === '\r' ? at - 1 : at
  }

  /** Returns the index after the line break that follows an index. */
  nextLine(offset: number): number {
    const at = this.text.indexOf('\n', offset)
    return at === -1 ? this.text.length : at + 1
  }

  /** Returns the column, from 0. */
  column(offset: number): number {
    return offset - this.lineStart(offset)
  }

  /** Whether only white space is before an index in its line. */
  isFirstInLine(offset: number): boolean {
    return /^[ \t]*$/.test(this.text.slice(this.lineStart(offset), offset))
  }
}

function childOf(node: Node | null, step: string | number): Node | null | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => keyOf(item) === step)
    return pair === undefined ? undefined : (pair.value as Node | null)
  }
  return isSeq(node) && typeof step === 'number' ? (node.items[step] as Node | null | undefined) : undefined
}

/** Whether a collection is written in brackets. */
export function isFlow(collection: YamlCollection): boolean {
  return collection.srcToken?.type === 'flow-collection'
}

/** Returns the entries of a collection; null for one without brackets inside of a list in brackets, such as `[a: 1]`. */
export function entriesOf(collection: YamlCollection): readonly Entry[] | null {
  const token = collection.srcToken
  if (token === undefined || !('items' in token)) return null
  const items = token.items.filter(isEntry)
  if (items.length !== collection.items.length) return null
  return items.map((item, index) => {
    const member = collection.items[index]!
    const [node, key] = isMap(collection)
      ? [collection.items[index]!.value as Node | null, collection.items[index]!.key as Node]
      : [member as Node | null, null]
    return entryOf(item, node, key)
  })
}

type Item =
  CST.BlockMap['items'][number] | CST.BlockSequence['items'][number] | CST.FlowCollection['items'][number]

/** Whether an item has more than the comments and spaces before the end of its collection. */
function isEntry(item: Item): boolean {
  return (
    item.value !== undefined ||
    ('key' in item && item.key !== null && item.key !== undefined) ||
    item.start.some(isIndicator) ||
    item.sep !== undefined
  )
}

function isIndicator({ type }: CST.SourceToken): boolean {
  return type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'anchor' || type === 'tag'
}

function entryOf(item: Item, node: Node | null, key: Node | null): Entry {
  const inItem = item.start.filter(isIndicator)
  const dash = inItem.find(({ type }) => type === 'seq-item-ind')
  const sep = item.sep ?? []
  const colon = sep.find(({ type }) => type === 'map-value-ind')
  const keyToken = item.key ?? undefined
  const first = inItem[0]?.offset ?? keyToken?.offset ?? colon?.offset ?? item.value?.offset ?? 0
  const after = colon ?? dash
  const valueStart =
    after === undefined ? (key === null ? first : endOf(keyToken, first)) : after.offset + after.source.length
  const props = (colon === undefined ? item.start : sep).filter(
    ({ type, offset }) => (type === 'anchor' || type === 'tag') && offset >= valueStart,
  )
  const isPair = key !== null
  const nodeStart =
    (isPair && colon === undefined ? undefined : props[0]?.offset) ?? item.value?.offset ?? valueStart
  const lastProp = props.at(-1)
  const propsEnd = lastProp === undefined ? valueStart : lastProp.offset + lastProp.source.length
  const bare = Math.max(propsEnd, endOf(keyToken, 0))
  return {
    node,
    key,
    start: first,
    end: endOf(item.value, bare),
    valueStart,
    nodeStart,
    propsEnd,
    isTagged: props.some(({ type }) => type === 'tag'),
  }
}

/** Returns the index after a token without comments, empty lines and the last line break. */
export function endOf(token: CST.Token | undefined, absent: number): number {
  if (token === undefined) return absent
  switch (token.type) {
    case 'block-scalar': {
      const head = token.props.reduce(
        (length, prop) => length + ('source' in prop ? prop.source.length : 0),
        0,
      )
      const full = token.offset + head
      if (keepsBreaks(token)) return full + token.source.length
      const body = token.source.replace(/(?:\r?\n)+$/, '')
      const header = headerOf(token)
      return body === '' ? header.offset + header.source.length : full + body.length
    }
    case 'block-map':
    case 'block-seq':
    case 'flow-collection': {
      if (token.type === 'flow-collection') {
        const close = token.end.find(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end')
        return close === undefined ? absent : close.offset + 1
      }
      const last = token.items.findLast(isEntry)
      return last === undefined ? absent : entryOf(last, null, null).end
    }
    default:
      return 'source' in token ? token.offset + token.source.length : absent
  }
}

function headerOf(token: CST.BlockScalar): CST.SourceToken {
  return token.props.find(({ type }) => type === 'block-scalar-header') as CST.SourceToken
}

/** Whether the line breaks at the end of a text are part of it. */
function keepsBreaks(token: CST.BlockScalar): boolean {
  return headerOf(token).source.includes('+')
}

/** Returns the anchor of a node; undefined for none. */
export function anchorOf(node: Node | null): string | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
}
