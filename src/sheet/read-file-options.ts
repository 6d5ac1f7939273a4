export { BLANKS, type Blank, type ReadFileOptions } from '../files/read-options.ts'
export { isEncoding } from '../files/read-text.ts'
