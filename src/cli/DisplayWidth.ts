const invisible = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]$/u

const widthOf = (character: string) => (invisible.test(character) ? 0 : wide.test(character) ? 2 : 1)

/** How many columns a terminal gives to a text: two for each Japanese character. */
export const displayWidth = (text: string): number =>
  Array.from(text).reduce((sum, character) => sum + widthOf(character), 0)

/** The text itself where it fits, else its beginning and an ellipsis; nothing where not even that fits. */
export const fitted = (text: string, columns: number): string => {
  if (displayWidth(text) <= columns) return text
  let kept = ""
  let room = columns - 2 // some terminals give an ellipsis two columns
  for (const character of text) {
    room -= widthOf(character)
    if (room < 0) break
    kept += character
  }
  return columns < 3 ? "" : `${kept.trimEnd()}…`
}
