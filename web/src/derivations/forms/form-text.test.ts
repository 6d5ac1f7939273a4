import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KIND_TEMPLATES, templateText } from './templates.ts'
import { editForm, memberOf, membersAt, readForm, type FormMembers, type LastEdit } from './form-text.ts'
import { fieldsOfKind, type KindField } from './kind-fields.ts'
import { mappingOf, mapTarget, setTargets } from './mapping.ts'
import { canShow, namesOf, setMember, setNames, unshown } from './member-forms.ts'
import { shownText, textToStore } from './text-member.ts'

type Edits = Parameters<typeof editForm>[1]

const TEXTS = [
  'a',
  'two words',
  'https://h/{{ a }}?q=#x: y',
  '- dash',
  'it\'s “quoted” "so"',
  'SELECT\n    max(a) \n\n\tFROM records',
  ' leading\nand trailing \n',
  'null',
  '12',
  '# no comment',
  'é 日本 🦜',
  'line\r\nwindows',
]

/** Returns a function of numbers below a bound that look random, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

function membersOf(text: string): FormMembers {
  const reading = readForm(text)
  assert.ok('members' in reading, JSON.stringify(reading))
  return reading.members
}

/** Returns the text with comments, empty lines and members that no form knows between its members. */
function decorated(text: string, next: (below: number) => number): string {
  let count = 0
  const lines = text.split('\n').flatMap((line) => {
    const isMember = /^[a-z_]+:/.test(line)
    const comment = isMember && next(2) === 0 ? [`# comment ${(count += 1)} of the next line`] : []
    const beside = isMember && /^[a-z_]+: [^|]/.test(line) && next(2) === 0 ? ` # beside ${(count += 1)}` : ''
    const unknown = isMember && next(4) === 0 ? [`other_${(count += 1)}:   {a:  [1,2]}   # kept`] : []
    return [
      ...unknown,
      ...comment,
      line + beside,
      ...(isMember && beside !== '' && next(3) === 0 ? [''] : []),
    ]
  })
  return lines.join('\n').replace(/\n*$/, '\n')
}

/** Makes an edit as a form does, and returns what the form must show afterwards. */
function editOf(
  members: FormMembers,
  field: KindField,
  {
    at,
    targets,
    next,
  }: { at: (string | number)[]; targets: readonly string[]; next: (below: number) => number },
): { edits: Edits; shown: (after: FormMembers) => unknown; expected: unknown } | null {
  const text = TEXTS[next(TEXTS.length)] ?? ''
  const place = { at, key: field.key }
  const member = (after: FormMembers): unknown => memberOf(after, field.key)
  const simple = (value: null | boolean | number | string) => ({
    edits: setMember(members, place, value),
    shown: member,
    expected: value,
  })
  switch (field.type) {
    case 'text':
    case 'model':
    case 'sql': {
      const shown = next(5) === 0 ? '' : text
      return {
        edits: setMember(members, place, textToStore(shown, memberOf(members, field.key))),
        shown: (after) => shownText(memberOf(after, field.key)),
        expected: shown,
      }
    }
    case 'number':
      return simple(next(3) === 0 ? null : next(100))
    case 'flag':
      return simple(next(2) === 0)
    case 'choice':
      return simple(field.options[next(field.options.length)] ?? field.usual)
    case 'field':
      return simple(['id', 'currency'][next(2)] ?? 'id')
    case 'fields': {
      const names = ['a', 'b', 'c', 'd'].filter(() => next(2) === 0)
      return {
        edits: setNames(members, place, names),
        shown: (after) => namesOf(memberOf(after, field.key)),
        expected: names,
      }
    }
    case 'mapping': {
      const target = targets[next(targets.length)] ?? ''
      return {
        edits: [mapTarget(field, members, { at, targets, target, value: text })],
        shown: (after) => mappingOf(field, after, targets).get(target),
        expected: text,
      }
    }
    case 'headers':
      return null
  }
}

test('comments, order and unknown members survive any edits of a form, which reads back what it wrote', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const next = random(seed)
    const template = KIND_TEMPLATES[next(KIND_TEMPLATES.length)]!
    const targets = next(2) === 0 || template.kind === 'sql' ? ['rate'] : ['rate', 'day']
    const start = decorated(templateText(template, { targets, input: 'currency' }), next)
    const comments = start.match(/# (?:comment|beside) \d+|other_\d+:.*/g) ?? []
    const keys = Object.keys(membersOf(start))
    let [text, last]: [string, LastEdit | null] = [start, null]
    for (let step = 0; step < 12; step += 1) {
      const members = membersOf(text)
      const at = template.kind === 'first' && next(3) > 0 ? ['steps', next(2)] : []
      const part = membersAt(members, at)
      const fields = fieldsOfKind(String(part['kind']), at.length > 0).filter((field) => canShow(field, part))
      const field = fields[next(fields.length)]
      const edit = field === undefined ? null : editOf(part, field, { at, targets, next })
      if (field === undefined || edit === null || edit.edits.length === 0) continue
      const edited = editForm(text, edit.edits, last)
      assert.ok('last' in edited, `seed ${seed}: ${JSON.stringify(edited)}\n${text}`)
      last = edited.last
      text = last.text
      const after = membersOf(text)
      assert.deepEqual(edit.shown(membersAt(after, at)), edit.expected, `seed ${seed}: ${field.key}\n${text}`)
      assert.deepEqual(
        Object.keys(after).filter((key) => keys.includes(key)),
        keys,
        `seed ${seed}\n${text}`,
      )
      assert.deepEqual(
        text.match(/# (?:comment|beside) \d+|other_\d+:.*/g) ?? [],
        comments,
        `seed ${seed}: ${field.key}\n${start}\n${text}`,
      )
    }
  }
})

test('keystrokes that follow each other are one edit: a text cleared on the way keeps its form, its place and its comment', () => {
  const start = 'kind: ai\n# The question\nprompt: |\n  What is {{ a }}?\nmodel: small\n'
  let [text, last]: [string, LastEdit | null] = [start, null]
  for (const shown of ['', ' ', 'W ', 'Who\n', 'Who is {{ a }}?']) {
    const members = membersOf(text)
    const edits = setMember(
      members,
      { at: [], key: 'prompt' },
      textToStore(shown, memberOf(members, 'prompt')),
    )
    const edited = editForm(text, edits, last)
    assert.ok('last' in edited)
    last = edited.last
    text = last.text
    assert.equal(shownText(memberOf(membersOf(text), 'prompt')), shown)
  }
  assert.equal(text, 'kind: ai\n# The question\nprompt: |\n  Who is {{ a }}?\nmodel: small\n')
})

test('what a form cannot show is listed, and stays', () => {
  const text =
    'targets: [a]\nkind: http\nurl: [1] # a list\nheaders: {A: 1}\nresponse_path: x\non_status: {404: null}\nmethod: TRACE\n'
  const members = membersOf(text)
  assert.deepEqual(unshown(members, { kind: 'http', isStep: false }), [
    'url',
    'headers',
    'on_status',
    'method',
  ])
  const edited = editForm(text, setMember(members, { at: [], key: 'response_path' }, 'y'), null)
  assert.ok('last' in edited)
  assert.equal(edited.last.text, text.replace('response_path: x', 'response_path: y'))
})

test('a further target turns one path into several, and the last one back into its own', () => {
  const text = 'targets: [a] # which\nkind: http\n# where\nresponse_path: x.y # the value\nurl: u\n'
  const more = editForm(text, setTargets(membersOf(text), ['a', 'b']), null)
  assert.ok('last' in more)
  assert.equal(
    more.last.text,
    'targets: [a, b] # which\nkind: http\n# where\nresponse_schema: # the value\n  a: x.y\n  b: b\nurl: u\n',
  )
  const fewer = editForm(more.last.text, setTargets(membersOf(more.last.text), ['b']), null)
  assert.ok('last' in fewer)
  assert.deepEqual(membersOf(fewer.last.text), {
    targets: ['b'],
    kind: 'http',
    response_schema: { b: 'b' },
    url: 'u',
  })
})

test('a text that is no YAML has a problem with its line, and is not edited', () => {
  const reading = readForm('kind: ai\nprompt: [\n')
  assert.ok('problem' in reading)
  assert.match(reading.problem, /^The file:[23]: /)
  assert.ok('problem' in readForm(''))
  assert.ok('problem' in readForm('- a\n'))
  assert.ok('problem' in editForm('a: [\n', [{ op: 'set', path: ['a'], value: 1 }], null))
})
