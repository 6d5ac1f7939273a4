import { Option } from 'commander'
import { integerBetween } from './option-values.ts'

const GIB = 1024 ** 3

/** Returns the option `--max-size`, in bytes once it is parsed. */
export function maxSizeOption(): Option {
  return new Option('--max-size <GiB>', 'maximum size of an unpacked archive')
    .argParser(integerBetween(1, 1024, GIB))
    .default(16 * GIB, '16')
}
