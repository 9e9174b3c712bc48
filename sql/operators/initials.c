/* CREATE FUNCTION initials(varchar) RETURNS varchar LANGUAGE wasm AS 'initials.wasm';
 *
 * The first letters of words, which are separated by blanks: text in, text out. */
#include "fathom_sql.h"

static char *text;
static uint32_t *offsets, text_size, offsets_size;

/* Room for as many bytes, in a block that is used again. */
static int room(void **block, uint32_t *size, uint32_t bytes) {
    if (*block != NULL && bytes <= *size) return 1;
    free(*block);
    *block = malloc(bytes + 1);
    *size = *block == NULL ? 0 : bytes;
    return *block != NULL;
}

/* Bytes of the letter that begins with this one, in UTF-8. */
static uint32_t letter(uint8_t first) { return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4; }

FATHOM_EXPORT(initials) int32_t initials(const struct fathom_batch *in, struct fathom_batch *out) {
    const struct fathom_column *words = &in->column[0];
    const char *from = words->values;
    if (!room((void **)&text, &text_size, words->offsets[in->rows])
        || !room((void **)&offsets, &offsets_size, 4 * (in->rows + 1)))
        return fathom_fail("no memory");
    uint32_t end = 0;
    for (uint32_t i = 0; i < in->rows; i++) {
        offsets[i] = end;
        if (!fathom_is_valid(words, i)) fathom_set_null(&out->column[0], i);
        uint32_t stop = words->offsets[i + 1];
        for (uint32_t at = words->offsets[i]; at < stop;) {
            uint32_t bytes = letter((uint8_t)from[at]);
            if (from[at] != ' ' && (at == words->offsets[i] || from[at - 1] == ' '))
                for (uint32_t k = 0; k < bytes; k++) text[end++] = from[at + k];
            at += bytes;
        }
    }
    offsets[in->rows] = end;
    out->column[0].values = text;
    out->column[0].offsets = offsets;
    return FATHOM_OK;
}
