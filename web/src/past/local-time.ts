/** Returns a time as the value of an input of date and time, to the second. */
export function localTime(at: string): string {
  const time = new Date(at)
  const two = (number: number): string => String(number).padStart(2, '0')
  const day = [String(time.getFullYear()).padStart(4, '0'), two(time.getMonth() + 1), two(time.getDate())]
  return `${day.join('-')}T${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`
}

/** Returns the end of the second that such an input has, so that entries of that second count; null for none. */
export function throughSecond(text: string): string | null {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) return null
  return new Date(Math.floor(time.getTime() / 1000) * 1000 + 999).toISOString()
}
