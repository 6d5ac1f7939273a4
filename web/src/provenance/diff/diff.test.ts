import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aroundChanges, diffLines, diffWords, shortened, type DiffPart } from './diff.ts'

/** `[-gone-]` and `{+new+}`. */
function marked(parts: readonly DiffPart[], between = ''): string {
  const marks = { same: ['', ''], gone: ['[-', '-]'], new: ['{+', '+}'] } as const
  return parts.map(({ is, text }) => marks[is][0] + text + marks[is][1]).join(between)
}

/** Returns the two texts that a diff represents. */
function sides(parts: readonly DiffPart[], between = ''): readonly [string, string] {
  const side = (other: DiffPart['is']): string =>
    parts
      .filter(({ is }) => is !== other)
      .map(({ text }) => text)
      .join(between)
  return [side('new'), side('gone')]
}

test('only the changed word differs', () => {
  assert.equal(
    marked(diffWords('the high mountains', 'the steep mountains')),
    'the [-high-]{+steep+} mountains',
  )
  assert.equal(marked(diffWords('a b', 'a b c')), 'a b{+ c+}')
  assert.equal(marked(diffWords('/api/eur?x=1', '/api/chf?x=1')), '/api/[-eur-]{+chf+}?x=1')
})

test('two adjacent changed words are one change', () => {
  assert.equal(marked(diffWords('one red hen', 'one big cow')), 'one [-red hen-]{+big cow+}')
})

test('empty texts, equal texts, and texts without anything in common', () => {
  assert.deepEqual(diffWords('', ''), [])
  assert.equal(marked(diffWords('', 'a')), '{+a+}')
  assert.equal(marked(diffWords('a', '')), '[-a-]')
  assert.equal(marked(diffWords('same', 'same')), 'same')
  assert.equal(marked(diffWords('ä', '字')), '[-ä-]{+字+}')
})

test('surrogate pairs are not divided', () => {
  assert.equal(marked(diffWords('😀', '😃')), '[-😀-]{+😃+}')
})

test('whatever changes, both texts can be read back', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const text = (): string => Array.from({ length: random(30) }, () => 'ab c\n.'[random(6)]).join('')
  for (let round = 0; round < 500; round += 1) {
    const [was, is] = [text(), text()]
    assert.deepEqual(sides(diffWords(was, is)), [was, is])
    assert.deepEqual(sides(diffLines(was, is), '\n'), [was, is])
  }
})

test('texts that are too long to compare count as replaced between their common start and end', () => {
  const many = (letter: string): string =>
    Array.from({ length: 1000 }, (_, index) => letter + index).join('-')
  const [was, is] = [`x ${many('a')} y`, `x ${many('b')} y`]
  const found = diffWords(was, is)
  assert.deepEqual(sides(found), [was, is])
  assert.equal(found.length, 4)
})

test('a long file is shown as its changed lines and those around them', () => {
  const was = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const is = ['a', 'b', 'c', 'X', 'e', 'f', 'g']
  const excerpt = aroundChanges(diffLines(was.join('\n'), is.join('\n')), 1)
  assert.deepEqual(excerpt, [
    { is: 'omitted', count: 2 },
    { is: 'same', text: 'c' },
    { is: 'gone', text: 'd' },
    { is: 'new', text: 'X' },
    { is: 'same', text: 'e' },
    { is: 'omitted', count: 2 },
  ])
})

test('long unchanged parts are shortened far from a change', () => {
  assert.equal(shortened('abcdefghij', 'middle', 2), 'ab … ij')
  assert.equal(shortened('abcdefghij', 'start', 2), '…ij')
  assert.equal(shortened('abcdefghij', 'end', 2), 'ab…')
  assert.equal(shortened('abcdef', 'middle', 2), 'abcdef')
})
