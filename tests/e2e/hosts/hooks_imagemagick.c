// SPDX-License-Identifier: Apache-2.0
// Test host: draws a picture with MagickCore 6, writes and reads it in memory, scales, filters and
// converts it, and prints the signatures of its pixels. usage: hooks_imagemagick. Run by
// test_hooks_imagemagick.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <magick/MagickCore.h>

#define WIDTH 300
#define HEIGHT 200

static ImageInfo *settings;
static ExceptionInfo *error;

static Image *draw(void)
{
    static unsigned char pixels[HEIGHT][WIDTH][3];
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            pixels[y][x][0] = (unsigned char)x;
            pixels[y][x][1] = (unsigned char)y;
            pixels[y][x][2] = (unsigned char)(x ^ y);
        }
    }
    return ConstituteImage(WIDTH, HEIGHT, "RGB", CharPixel, pixels, error);
}

// Prints what an image holds; destroys it.
static void say(const char *how, Image *image)
{
    if (!image) {
        printf("%s failed\n", how);
        return;
    }
    SignatureImage(image);
    printf("%s %zu x %zu %s\n", how, image->columns, image->rows,
        GetImageProperty(image, "signature"));
    DestroyImage(image);
}

static void write_and_read(Image *image)
{
    size_t n = 0;
    strcpy(image->magick, "JPEG");
    unsigned char *blob = ImageToBlob(settings, image, &n, error);
    printf("ImageToBlob %zu\n", n);
    say("BlobToImage", BlobToImage(settings, blob, n, error));
    Image *pinged = PingBlob(settings, blob, n, error);
    printf("PingBlob %zu x %zu\n", pinged->columns, pinged->rows);
    DestroyImage(pinged);
    RelinquishMagickMemory(blob);
    strcpy(settings->filename, "/nonexistent/picture.jpg");
    say("ReadImage", ReadImage(settings, error));
    printf("%d %s\n", error->severity, error->reason ? error->reason : "");
}

static void process(Image *image)
{
    const RectangleInfo middle = {100, 80, 20, 10};
    say("ResizeImage", ResizeImage(image, 90, 70, TriangleFilter, 1.0, error));
    say("ResampleImage", ResampleImage(image, 144, 100, LanczosFilter, 0.9, error));
    say("ThumbnailImage", ThumbnailImage(image, 30, 20, error));
    say("ScaleImage", ScaleImage(image, 33, 22, error));
    say("CropImage", CropImage(image, &middle, error));
    say("UnsharpMaskImage", UnsharpMaskImage(image, 0.0, 1.5, 0.8, 0.02, error));
    say("RotateImage", RotateImage(image, 12.5, error));
    Image *copy = CloneImage(image, 0, 0, MagickTrue, error);
    LevelImage(copy, "10%,90%,1.2");
    TransformImageColorspace(copy, GRAYColorspace);
    CompositeImage(image, OverCompositeOp, copy, 150, 100);
    say("LevelImage", copy);
    QuantizeInfo *quantize = AcquireQuantizeInfo(settings);
    quantize->number_colors = 16;
    QuantizeImage(quantize, image);
    DestroyQuantizeInfo(quantize);
}

int main(int argc, char **argv)
{
    (void)argc;
    MagickCoreGenesis(argv[0], MagickFalse);
    settings = AcquireImageInfo();
    error = AcquireExceptionInfo();
    Image *image = draw();
    if (!image)
        return 1;
    image->x_resolution = image->y_resolution = 72;
    write_and_read(image);
    process(image);
    say("CompositeImage, QuantizeImage", image);
    DestroyImageInfo(settings);
    DestroyExceptionInfo(error);
    MagickCoreTerminus();
    return 0;
}
