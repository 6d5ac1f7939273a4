import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject, jsonEqual, type JsonValue } from '../../src/contract/json/json.ts'
import { editYaml } from '../../src/contract/yaml/edit/edit-yaml.ts'
import { editsBetween } from '../../src/contract/yaml/edit/value-edits.ts'
import { editValue, valueAt, type YamlEdit } from '../../src/contract/yaml/edit/yaml-edit.ts'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { randomYaml, type RandomYaml } from '../support/random-yaml.ts'

const NEW_VALUES: readonly JsonValue[] = [
  'new',
  'two\nlines\n',
  '  odd: # "text\' ',
  '',
  7,
  null,
  false,
  'true',
  [],
  {},
  ['a', 'b, c'],
  {
    name: 'new field',
    logicalType: 'string',
    customProperties: [{ property: 'editableBy', value: ['human:*'] }],
  },
  [{ a: 1, b: [{ c: null }] }, 'Zürich'],
  'del\u007f and \u0085',
]

interface Case {
  readonly edit: YamlEdit
  /** Restores the text; null where none has to. */
  readonly inverse: YamlEdit | null
  /** The lines that may change. */
  readonly from: number
  readonly to: number
}

function randomCase(random: Random, { parts, text }: RandomYaml, root: JsonValue): Case | null {
  const int = (below: number): number => random.below(below)
  const part = random.pick(parts)
  const { path, from, to } = part
  const value = random.pick(NEW_VALUES)
  const old = valueAt(root, path)!
  const last = path.at(-1)!
  switch (int(7)) {
    case 0:
      return { edit: { op: 'set', path, value }, inverse: null, from, to }
    case 1:
      // A file always has keys.
      if (path.length === 1 && Object.keys(root as object).length === 1) return null
      return { edit: { op: 'remove', path }, inverse: null, from, to }
    case 2: {
      if (part.kind !== 'list') return null
      const at = [...path, int(part.size + 1)]
      const values = [value, ...(int(2) === 0 ? [random.pick(NEW_VALUES)] : [])]
      const inverse: YamlEdit | null =
        part.size > 0 && values.length === 1 ? { op: 'remove', path: at } : null
      return { edit: { op: 'insert', path: at, values }, inverse, from, to }
    }
    case 3: {
      if (part.kind !== 'map') return null
      const at = [...path, 'added']
      const inverse: YamlEdit | null = part.size > 0 ? { op: 'remove', path: at } : null
      return { edit: { op: 'set', path: at, value }, inverse, from, to }
    }
    case 4: {
      if (typeof last !== 'string') return null
      const inverse: YamlEdit = { op: 'rename', path: [...path.slice(0, -1), 'renamed'], key: last }
      return { edit: { op: 'rename', path, key: 'renamed' }, inverse, from, to }
    }
    case 5: {
      if (typeof old !== 'string' || !old.includes('old')) return null
      const start = old.lastIndexOf('old')
      const edit = (word: string, length: number): YamlEdit => ({
        op: 'text',
        path,
        edits: [{ start, end: start + length, text: word }],
      })
      return { edit: edit('fresh_1', 3), inverse: edit('old', 7), from, to }
    }
    default: {
      if (part.kind !== 'list' || part.size < 2) return null
      const [a, b] = [int(part.size), int(part.size)]
      if (a === b) return null
      const inverse: YamlEdit = { op: 'move', path: [...path, b], to: a }
      // Items in brackets, and those that begin in the line of another, are written anew.
      // Empty lines belong to no item.
      const hasLastBreak = text.endsWith('\n') && !/\n\r?\n/.test(text)
      const isOnLines = !part.isFlow && typeof last === 'string'
      return {
        edit: { op: 'move', path: [...path, a], to: b },
        inverse: isOnLines && hasLastBreak ? inverse : null,
        from,
        to,
      }
    }
  }
}

const { count, random, again } = fuzzRun({ test: 200, fuzz: 100_000 })

test(`edits keep the lines around them, have the expected value, and can be taken back (${again})`, () => {
  for (let round = 0; round < count; round += 1) {
    const generated = randomYaml(random)
    const { text } = generated
    const { value } = parseYamlFile(text, 'f.yaml')
    const hasAliases = / \*ak\d/.test(text)
    for (let tries = 0; tries < 8; tries += 1) {
      const chosen = randomCase(random, generated, value)
      if (chosen === null) continue
      const { edit, inverse, from, to } = chosen
      const shown = `round ${round}: ${JSON.stringify(edit)}\n${text}\n=>\n`
      let edited: string
      try {
        edited = editYaml(text, 'f.yaml', [edit])
      } catch (error) {
        throw new Error(shown, { cause: error })
      }
      const expected = editValue(value, edit)
      assert.ok(jsonEqual(parseYamlFile(edited, 'f.yaml').value, expected), shown + edited)
      // Other lines have aliases that are replaced by their values.
      if (!hasAliases && edited !== text) {
        const [before, after] = [text.split('\n'), edited.split('\n')]
        // An empty line between entries belongs to neither; at the end of a file without a line break, the line before changes too.
        const atEnd = to >= before.length - 1 ? 1 : 0
        const head = Math.max(0, from - 1 - atEnd)
        const rest = before.slice(to + 1).findIndex((line) => line.trim() !== '')
        const tail = rest === -1 ? 0 : Math.max(0, before.length - (to + 1 + Math.max(rest, 1) + atEnd))
        assert.deepEqual(after.slice(0, head), before.slice(0, head), shown + edited)
        assert.deepEqual(after.slice(after.length - tail), before.slice(before.length - tail), shown + edited)
        if (inverse !== null) assert.equal(editYaml(edited, 'f.yaml', [inverse]), text, shown + edited)
      }
    }
  }
})

test(`a text is edited into any other value (${again})`, () => {
  for (let round = 0; round < count / 4; round += 1) {
    const { text } = randomYaml(random)
    const after = mixed(
      parseYamlFile(text, 'f.yaml').value,
      parseYamlFile(randomYaml(random).text, 'f.yaml').value,
    )
    const before = parseYamlFile(text, 'f.yaml').value
    const edited = editYaml(text, 'f.yaml', editsBetween(before, after))
    assert.ok(
      jsonEqual(parseYamlFile(edited, 'f.yaml').value, after),
      `round ${round}\n${text}\n=>\n${edited}`,
    )
  }
})

/** Returns a value with parts of two. */
function mixed(one: JsonValue, other: JsonValue): JsonValue {
  if (random.chance(0.1)) return other
  if (isJsonObject(one)) {
    const others = isJsonObject(other) ? Object.entries(other) : []
    const kept = Object.entries(one).filter(() => random.chance(0.8))
    const entries = kept.map(
      ([key, value], index) => [key, mixed(value, others[index]?.[1] ?? value)] as const,
    )
    const added = others.slice(0, 1).map(([key, value]) => [`new_${key}`, value] as const)
    return Object.fromEntries([...entries, ...added])
  }
  if (!Array.isArray(one)) return random.chance(0.3) ? random.pick(NEW_VALUES) : one
  const items = (one as readonly JsonValue[])
    .filter(() => random.chance(0.8))
    .map((item) => mixed(item, other))
  return items.length > 1 && random.chance(0.5) ? items.toReversed() : items
}
