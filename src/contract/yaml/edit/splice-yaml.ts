import { isAlias, isMap } from 'yaml'
import type { CST } from 'yaml'
import type { JsonValue } from '../../json/json.ts'
import { keyOf } from '../yaml-value.ts'
import { insertLines, moveLines, removeLines } from './splice-block.ts'
import { insertFlow, isJson, removeFlow, type FlowPlace } from './splice-flow.ts'
import {
  blockText,
  indented,
  inlinePair,
  inlineText,
  isNested,
  isOneLine,
  keyText,
  scalarText,
  styleOf,
  type YamlStyle,
} from './write-yaml.ts'
import { editText, valueAt, type TextEdit, type YamlEdit, type YamlPath } from './yaml-edit.ts'
import { endOf, entriesOf, isFlow, type Entry, type YamlCollection, type YamlSource } from './yaml-source.ts'

/** An entry, its collection and its place there. */
interface Place {
  readonly collection: YamlCollection
  readonly entries: readonly Entry[]
  readonly entry: Entry
  readonly index: number
}

type Splices = readonly TextEdit[]

/** Returns the changes to the text that an edit may need, the best first; none for a place that is not supported. */
export function splicesOf(source: YamlSource, edit: YamlEdit): readonly Splices[] {
  const style = styleOf(source)
  const place = placeOf(source, edit.path)
  switch (edit.op) {
    case 'insert':
      return insert(source, edit.path, edit.values, style)
    case 'set':
      if (place === null) return addKey(source, edit.path, { value: edit.value, style })
      return replace(source, place, { value: edit.value, style })
    case 'remove':
      return place === null ? [] : remove(source, place, edit.path)
    case 'move': {
      if (place === null || isFlow(place.collection)) return []
      const isRoot = edit.path.length === 1
      const moved = moveLines(source, place.entries, { from: place.index, to: edit.to, isRoot })
      return moved === null ? [] : [moved]
    }
    case 'rename':
      return place === null ? [] : renameKey(place, edit.key, style)
    case 'text':
      return place === null ? [] : editScalar(source, place, { edit, style })
  }
}

function placeOf(source: YamlSource, path: YamlPath): Place | null {
  const last = path.at(-1)
  const collection = source.collection(path.slice(0, -1))
  if (collection === null || last === undefined) return null
  const entries = entriesOf(collection)
  const index =
    typeof last === 'number'
      ? last
      : isMap(collection)
        ? collection.items.findIndex((item) => keyOf(item) === last)
        : -1
  const entry = entries?.[index]
  return entries === null || entry === undefined ? null : { collection, entries, entry, index }
}

function flowPlace(collection: YamlCollection, entries: readonly Entry[]): FlowPlace | null {
  const token = collection.srcToken
  if (token?.type !== 'flow-collection') return null
  return { entries, open: token.start.offset, close: endOf(token, token.start.offset + 1) - 1 }
}

function writtenLike(source: YamlSource, flow: FlowPlace, { json }: YamlStyle): { readonly json: boolean } {
  return { json: json || isJson(source, flow) }
}

interface Written {
  readonly value: JsonValue
  readonly style: YamlStyle
}

function insert(
  source: YamlSource,
  path: YamlPath,
  values: readonly JsonValue[],
  style: YamlStyle,
): readonly Splices[] {
  const parents = path.slice(0, -1)
  const index = path.at(-1) as number
  const collection = source.collection(parents)
  const entries = collection === null ? null : entriesOf(collection)
  if (collection === null || entries === null) return []
  const flow = flowPlace(collection, entries)
  if (flow === null) {
    const text = blockText(values, style)
    const spread = text.startsWith('[')
      ? values.map((value) => `- ${inlineText(value, style)}`).join('\n')
      : text
    return [insertLines(source, entries, index, blockLines(source, entries, spread))]
  }
  const like = writtenLike(source, flow, style)
  const texts = values.map((value) => inlineText(value, style, like))
  return [insertFlow(source, flow, index, texts)]
}

/** Adds a key at the end of a map. */
function addKey(source: YamlSource, path: YamlPath, { value, style }: Written): readonly Splices[] {
  const parents = path.slice(0, -1)
  const key = path.at(-1)
  const collection = source.collection(parents)
  const entries = collection === null ? null : entriesOf(collection)
  if (collection === null || entries === null || typeof key !== 'string') return []
  const flow = flowPlace(collection, entries)
  if (flow !== null) {
    return [
      insertFlow(source, flow, entries.length, [
        inlinePair(key, value, style, writtenLike(source, flow, style)),
      ]),
    ]
  }
  const text = blockText({ [key]: value }, style)
  return [insertLines(source, entries, entries.length, blockLines(source, entries, text))]
}

function blockLines(source: YamlSource, [first]: readonly Entry[], text: string): string {
  return indented(text, first === undefined ? 0 : source.column(first.start), source.eol)
}

function remove(source: YamlSource, place: Place, path: YamlPath): readonly Splices[] {
  const { collection, entries, index } = place
  if (entries.length > 1) {
    const flow = flowPlace(collection, entries)
    if (flow !== null) return [removeFlow(source, flow, index)]
    return removeLines(source, entries, index, path.length === 1)
  }
  const empty = isMap(collection) ? {} : []
  const parent = placeOf(source, path.slice(0, -1))
  return parent === null ? [] : replace(source, parent, { value: empty, style: styleOf(source) })
}

function replace(source: YamlSource, place: Place, { value, style }: Written): readonly Splices[] {
  const { collection, entry } = place
  const token = entry.node?.srcToken
  const flow = flowPlace(collection, place.entries)
  const isBlock = token?.type === 'block-map' || token?.type === 'block-seq'
  if (flow === null && isNested(value) && !isOneLine(value, style) && token?.type !== 'flow-collection') {
    return isBlock
      ? [blockByBlock(source, token, { entry, value, style })]
      : [inlineByBlock(source, entry, { value, style })]
  }
  const text = inline(source, place, { value, style })
  // A comment after the value, or the end of the file, can make it impossible to write several lines.
  const texts = text.includes('\n') ? [text, inlineText(value, style)] : [text]
  return texts.map((written) =>
    isBlock ? blockByInline(source, token, { entry, text: written }) : replaceInline(source, entry, written),
  )
}

/** Returns a value as it is written after its key, with all lines but the first indented. */
function inline(source: YamlSource, place: Place, { value, style }: Written): string {
  const { collection, entries, entry } = place
  const like = entry.node?.srcToken
  const flow = flowPlace(collection, entries)
  if (flow !== null && writtenLike(source, flow, style).json) return inlineText(value, style, { json: true })
  if (typeof value === 'object' && value !== null) return inlineText(value, style)
  const text = scalarText(value, style, { like, inFlow: flow !== null })
  return indented(text, source.column(entry.start), source.eol)
}

function replaceInline(source: YamlSource, entry: Entry, text: string): Splices {
  const { node, valueStart, nodeStart, propsEnd, isTagged, end } = entry
  const isAliasNode = isAlias(node)
  const token = isAliasNode ? undefined : node?.srcToken
  if (token === undefined && !isAliasNode) {
    // A value that the text leaves out has no place of its own.
    const at = Math.max(valueStart, end)
    const hasIndicator = /[:-]/.test(source.text[valueStart - 1] ?? '')
    return [{ start: isTagged ? valueStart : at, end: at, text: `${hasIndicator ? ' ' : ': '}${text}` }]
  }
  // A tag is not that of the new value; aliases of the anchor have been replaced.
  const start = isTagged ? nodeStart : (token?.offset ?? node?.range?.[0] ?? propsEnd)
  return [{ start, end: Math.max(start, beforeBreak(source, end)), text }]
}

/** Returns the end of a value without its last line break, which a text can keep as part of it. */
function beforeBreak({ text }: YamlSource, end: number): number {
  if (text[end - 1] !== '\n') return end
  return text[end - 2] === '\r' ? end - 2 : end - 1
}

function blockByBlock(
  source: YamlSource,
  token: CST.Token,
  { entry, value, style }: Written & { readonly entry: Entry },
): Splices {
  const column = source.column(token.offset)
  // A list may have the column of its key, a map may not.
  const more = entry.key !== null && column === source.column(entry.start) && !Array.isArray(value) ? 2 : 0
  const text = ' '.repeat(more) + indented(blockText(value, style), column + more, source.eol)
  return [{ start: token.offset, end: beforeBreak(source, entry.end), text }]
}

/** Writes a collection below the key or dash of a plain value. */
function inlineByBlock(source: YamlSource, entry: Entry, { value, style }: Written): Splices {
  const { eol, text } = source
  const column = source.column(entry.start)
  const isItem = entry.key === null
  const block = indented(blockText(value, style), column + 2, eol)
  const { valueStart } = entry
  const end = beforeBreak(source, entry.end)
  const spaces = /^[ \t]*/.exec(text.slice(valueStart))?.[0].length ?? 0
  if (isItem) {
    const start = Math.min(valueStart + spaces, Math.max(end, valueStart))
    return [{ start, end: Math.max(end, start), text: `${start === valueStart ? ' ' : ''}${block}` }]
  }
  const lineEnd = source.lineEnd(end)
  const lines = `${eol}${' '.repeat(column + 2)}${block}`
  if (end === valueStart) return [{ start: lineEnd, end: lineEnd, text: lines }]
  return [
    { start: valueStart, end, text: '' },
    { start: lineEnd, end: lineEnd, text: lines },
  ]
}

/** Writes a plain value in place of a collection on lines of its own. */
function blockByInline(
  source: YamlSource,
  token: CST.Token,
  { entry, text }: { readonly entry: Entry; readonly text: string },
): Splices {
  const { eol } = source
  const last = beforeBreak(source, entry.end)
  if (!source.isFirstInLine(token.offset)) return [{ start: token.offset, end: last, text }]
  const start = source.lineStart(token.offset)
  const end = source.nextLine(last)
  const isAtEnd = end === source.text.length && !source.text.endsWith('\n')
  return [
    { start: entry.isTagged ? entry.valueStart : entry.propsEnd, end: entry.propsEnd, text: ` ${text}` },
    { start: isAtEnd ? start - eol.length : start, end, text: '' },
  ]
}

function renameKey({ entry, collection }: Place, key: string, style: YamlStyle): readonly Splices[] {
  const token = entry.key?.srcToken
  if (token === undefined || !isMap(collection)) return []
  return [[{ start: token.offset, end: endOf(token, token.offset), text: keyText(key, style, token) }]]
}

/** Replaces parts of a text where they are in the file; if that cannot be found out, the whole text. */
function editScalar(
  source: YamlSource,
  place: Place,
  { edit, style }: { readonly edit: YamlEdit & { readonly op: 'text' }; readonly style: YamlStyle },
): readonly Splices[] {
  const before = valueAt(source.value, edit.path)
  if (typeof before !== 'string') return []
  const whole = replace(source, place, { value: editText(before, edit.edits), style })
  const token = place.entry.node?.srcToken
  if (token === undefined || !('source' in token)) return whole
  const bodyStart =
    token.type === 'block-scalar'
      ? token.offset +
        token.props.reduce((length, prop) => length + ('source' in prop ? prop.source.length : 0), 0)
      : token.offset
  const splices: TextEdit[] = []
  for (const { start, end, text } of edit.edits) {
    const old = before.slice(start, end)
    const inValue = occurrences(before, old)
    const inSource = occurrences(token.source, old)
    const found = inSource[inValue.indexOf(start)]
    if (old === '' || inValue.length !== inSource.length || found === undefined) return whole
    splices.push({ start: bodyStart + found, end: bodyStart + found + old.length, text })
  }
  return [splices, ...whole]
}

function occurrences(text: string, part: string): readonly number[] {
  const found: number[] = []
  if (part === '') return found
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push(at)
  return found
}
