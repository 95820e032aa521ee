/* VTK image data (.vti), which ParaView and others read. It is ASCII, so byte order and encoding
 * cannot go wrong. */
#include "samplers/vti.h"

#include <stdio.h>

void ergo_vti_append(struct ergo_text *text, const uint64_t size[3], const char *name,
                     const uint8_t *sites) {
    char line[64 * 4 + 1];
    char extent[80];
    const uint64_t n = size[0] * size[1] * size[2];
    snprintf(extent, sizeof extent, "0 %llu 0 %llu 0 %llu", (unsigned long long)size[0],
             (unsigned long long)size[1], (unsigned long long)size[2]);
    ergo_text_append(text,
                     "<?xml version=\"1.0\"?>\n"
                     "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
                     "<ImageData WholeExtent=\"%s\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n"
                     "<Piece Extent=\"%s\">\n<CellData Scalars=\"%s\">\n"
                     "<DataArray type=\"UInt8\" Name=\"%s\" format=\"ascii\">\n",
                     extent, extent, name, name);
    for (uint64_t i = 0; i < n; i += 64) {
        size_t used = 0;
        for (uint64_t k = i; k < n && k < i + 64; k++) {
            const unsigned value = sites[k];
            if (value >= 100)
                line[used++] = (char)('0' + value / 100);
            if (value >= 10)
                line[used++] = (char)('0' + value / 10 % 10);
            line[used++] = (char)('0' + value % 10);
            line[used++] = k + 1 < n && k + 1 < i + 64 ? ' ' : '\n';
        }
        ergo_text_append_bytes(text, line, used);
    }
    ergo_text_append(text, "</DataArray>\n</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n");
}
