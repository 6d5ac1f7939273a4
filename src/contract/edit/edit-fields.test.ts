import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseContract } from '../odcs/parse-contract.ts'
import { lineChanges } from './line-changes.ts'
import { addField, changeField, removeField, renameField } from './edit-fields.ts'

const TEXT = `# Books of a library
apiVersion: v3.1.0
kind: DataContract
id: "books"
version: 1.0.0

schema:
  - name: books # one record is one book
    properties:
      - name: id
        logicalType: string
        primaryKey: true
        customProperties:
          - {property: idFrom, value: [title, 'shelf']}

      # Shown first.
      - name: 'title'   # the heading
        logicalType: string
        description: >
          As on the cover,
          not the spine.

      - { name: shelf, logicalType: string, required: true } # by room

      - name: summary
        logicalType: string
        x-inputs: [title]
# the end
`
const CONTRACT = parseContract(TEXT)

/** The lines that a text has and another has not, each with a sign. */
function changed(after: string, before = TEXT): readonly string[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ]
}

test('a field is added after the others, in the form of the file, and removed again without a trace', () => {
  const text = addField(CONTRACT, {
    name: 'pages',
    logicalType: 'integer',
    description: 'Printed: all of them',
    required: true,
    editableBy: ['human:*'],
  })
  const end = `
      - name: pages
        logicalType: integer
        description: 'Printed: all of them'
        required: true
        customProperties:
          - property: editableBy
            value: ['human:*']
# the end
`
  assert.equal(text, TEXT.replace('# the end\n', end))
  assert.equal(removeField(parseContract(text), 'pages', null), TEXT)
})

test('settings are changed where they are, and added where they are not', () => {
  const shelf = changeField(CONTRACT, 'shelf', { required: false, description: 'Room, then shelf' })
  assert.deepEqual(changed(shelf), [
    '-      - { name: shelf, logicalType: string, required: true } # by room',
    "+      - { name: shelf, logicalType: string, required: false, description: 'Room, then shelf' } # by room",
  ])
  const title = changeField(CONTRACT, 'title', { description: null, required: true, logicalType: 'object' })
  assert.deepEqual(changed(title), [
    '-        description: >',
    '-          As on the cover,',
    '-          not the spine.',
    '+        logicalType: object',
    '+        required: true',
  ])
  const guarded = changeField(CONTRACT, 'title', { editableBy: ['agent:a'] })
  assert.deepEqual(parseContract(guarded).fieldByName.get('title')?.editableBy, ['agent:a'])
  assert.equal(changeField(CONTRACT, 'title', { required: false }), TEXT)
})

test('a name is changed where the contract has it, and nowhere else', () => {
  const text = renameField(CONTRACT, { name: 'title', newName: 'heading', inputs: true })
  assert.deepEqual(changed(text), [
    "-          - {property: idFrom, value: [title, 'shelf']}",
    "-      - name: 'title'   # the heading",
    '-        x-inputs: [title]',
    "+          - {property: idFrom, value: [heading, 'shelf']}",
    "+      - name: 'heading'   # the heading",
    '+        x-inputs: [heading]',
  ])
  assert.deepEqual(lineChanges('contract.yaml', TEXT, text), [
    {
      file: 'contract.yaml',
      line: 14,
      before: "          - {property: idFrom, value: [title, 'shelf']}",
      after: "          - {property: idFrom, value: [heading, 'shelf']}",
    },
    {
      file: 'contract.yaml',
      line: 17,
      before: "      - name: 'title'   # the heading",
      after: "      - name: 'heading'   # the heading",
    },
    {
      file: 'contract.yaml',
      line: 27,
      before: '        x-inputs: [title]',
      after: '        x-inputs: [heading]',
    },
  ])
  const back = renameField(parseContract(text), { name: 'heading', newName: 'title', inputs: true })
  assert.equal(back, TEXT)
})

test('a field that the contract needs elsewhere is neither renamed nor removed', () => {
  const rename = (name: string, newName: string) => () =>
    renameField(CONTRACT, { name, newName, inputs: false })
  const refused = (act: () => unknown, type: string, message: RegExp): void => {
    assert.throws(
      act,
      (error: Error & { type?: string }) => error.type === type && message.test(error.message),
    )
  }
  refused(
    rename('title', 'heading'),
    'OperationError',
    /^contract\.yaml:27: x-inputs of "summary" names "title"/,
  )
  refused(rename('id', 'key'), 'OperationError', /primary-key/)
  refused(
    rename('shelf', 'Title'),
    'OperationError',
    /has a field "title" already, which differs in case only/,
  )
  refused(rename('titel', 'heading'), 'SheetError', /no field "titel"; was title meant\?/)
  refused(() => addField(CONTRACT, { name: 'shelf', logicalType: 'string' }), 'OperationError', /already/)
  refused(() => removeField(CONTRACT, 'id', null), 'OperationError', /primary-key/)
  refused(() => removeField(CONTRACT, 'summary', 'summary.yaml'), 'OperationError', /derived/)
  refused(() => removeField(CONTRACT, 'title', null), 'OperationError', /x-inputs/)
  refused(
    () => removeField(CONTRACT, 'shelf', null),
    'OperationError',
    /^contract\.yaml:14: idFrom names "shelf"/,
  )
  refused(() => changeField(CONTRACT, 'id', { description: 'Key' }), 'OperationError', /primary-key/)
})

test('a name keeps its case when only that changes', () => {
  const text = renameField(CONTRACT, { name: 'shelf', newName: 'Shelf', inputs: false })
  assert.ok(parseContract(text).fieldByName.has('Shelf'))
})

test('lines that are added, removed and changed are reported in their order', () => {
  const change = (line: number, before: string | null, after: string | null): object => ({
    file: 'f',
    line,
    before,
    after,
  })
  assert.deepEqual(lineChanges('f', 'a\nb\nc\n', 'a\nx\nc\n'), [change(2, 'b', 'x')])
  assert.deepEqual(lineChanges('f', 'a\r\nb\r\n', 'a\r\nb\r\nc\r\n'), [change(3, null, 'c')])
  assert.deepEqual(lineChanges('f', 'a\nb\nc\n', 'a\nc\n'), [change(2, 'b', null)])
  assert.deepEqual(lineChanges('f', 'a\n', 'a\n'), [])
  const [long] = lineChanges('f', 'x'.repeat(1000), 'y')
  assert.equal(long?.before, `${'x'.repeat(200)}…`)
})
