import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnsafeInteger, numberFrom } from './exact-number.ts'

test('a text is a number when a double gives its digits back', () => {
  const kept: readonly (readonly [text: string, number: number])[] = [
    ['0', 0],
    ['0.000', 0],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['1.50', 1.5],
    ['0.57', 0.57],
    ['1e-06', 1e-6],
    ['1E+3', 1000],
    ['0.0000009999999974752427', 9.999999974752427e-7],
    ['0.10000000000000001', 0.1],
    ['1.000000000000000056e-01', 0.1],
    ['0.1000000000000000055511151231257827', 0.1],
    ['0.56999999999999995', 0.57],
    ['123456789012345.67', 123456789012345.67],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['1152921504606846976', 2 ** 60],
    ['1152921504606847000', 2 ** 60],
    ['100000000000000000000', 1e20],
    ['123456789012345670000', 123456789012345670000],
    ['1e300', 1e300],
    ['4.9e-324', 5e-324],
    ['0.00000000000000000000000000', 0],
    ['1.7976931348623157e308', Number.MAX_VALUE],
  ]
  for (const [text, number] of kept) assert.equal(numberFrom(text), number, text)
})

test('a text whose digits a double would change is no number', () => {
  const lost = [
    '9007199254740993',
    '1234567890123456781',
    '0.1234567890123456789',
    '12345678901234567890.123456',
    '9007199254740993.0',
    '0.123456789012345678901234567890',
    '1e400',
    '1e-400',
    '1.23e-322',
    `0.${'1'.repeat(101)}`,
  ]
  for (const text of lost) assert.equal(numberFrom(text), null, text)
  for (const text of ['', '.', '-', '1,5', '0x10', '1_000', 'NaN', 'Infinity', '1e', ' 1', '٣'])
    assert.equal(numberFrom(text), null, text)
})

test('every double is a number in each notation that prints its digits', () => {
  const bits = new DataView(new ArrayBuffer(8))
  let seed = 20
  for (let count = 0; count < 3000; count += 1) {
    for (const at of [0, 4]) bits.setUint32(at, (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0))
    const number = bits.getFloat64(0)
    if (!Number.isFinite(number)) continue
    const texts = [String(number), number.toPrecision(17), number.toExponential(18)]
    for (const text of texts.filter((written) => !isUnsafeInteger(written)))
      assert.equal(numberFrom(text), number, text)
  }
})

test('an integer in plain digits beyond 2^53-1 is distinguished from numbers in other notations', () => {
  for (const text of ['9007199254740992', '-9007199254740992', '+123456789012345678'])
    assert.equal(isUnsafeInteger(text), true, text)
  for (const text of ['9007199254740991', '1e20', '9007199254740992.5', '12345678901234567x'])
    assert.equal(isUnsafeInteger(text), false, text)
})
