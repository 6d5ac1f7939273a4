import { Type } from 'typebox'

/** A line of a file that differs. */
export const LineChangeAnswer = Type.Object({
  file: Type.String(),
  line: Type.Integer({ description: 'The number of the line before the change, from 1.' }),
  before: Type.Union([Type.String(), Type.Null()], { description: 'Null for an added line.' }),
  after: Type.Union([Type.String(), Type.Null()], { description: 'Null for a removed line.' }),
})
